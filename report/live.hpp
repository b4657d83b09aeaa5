// Running jobs as text, as JSON and as OpenMetrics text.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analyzer/watch/watched_job.hpp"

namespace halcyon {

/// The state of a job, with a label for each line.
std::string job_text(const JobView& job);
/// All jobs, with an empty line between them.
std::string jobs_text(const std::vector<JobView>& jobs);
/// One line, for logs. `job_words` does not name the job.
std::string job_line(const JobView& job);
std::string job_words(const JobView& job);

/// "node1, node2"; "12 hosts" if they are many.
std::string hosts_words(const JobView& job);

/// The output of `halcyon watch --json`: a list of jobs.
nlohmann::ordered_json jobs_json(const std::vector<JobView>& jobs);
std::string jobs_openmetrics(const std::vector<JobView>& jobs);

/// The rates of the last minutes in `columns` columns, the newest on the right: a full block is above the usual rate,
/// and a blank has no sample.
std::string sparkline(const std::vector<RateAt>& history, double now_seconds, std::size_t columns);

/// "97 %"; "-" if it is not known.
std::string rate_words(const JobView& job);
/// "3.1 % (0.0 to 6.2)"; "-" if it is not known.
std::string interference_words(const JobView& job);

}  // namespace halcyon
