// Copies this host's live records for readers on other hosts.
#pragma once

#include <functional>
#include <string>

#include "cli/running/records_here.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Waits for the jobs, and replaces one file for each of them in the directory each second until they have ended.
/// `goes_on`: afterwards it waits for further jobs.
Status publish_jobs(const WhichJobs& which, const std::string& directory, bool goes_on,
                    const std::function<void(const std::string& line)>& tell);

}  // namespace halcyon::cli
