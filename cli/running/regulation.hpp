// Regulates a running job: looks at the progress in its live record, and lets its ranks stand still while it is poor.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analyzer/online/regulator.hpp"
#include "cli/kept/kept_targets.hpp"
#include "libprofile/live/snapshot.hpp"

namespace halcyon::cli {

/// What counts as progress: segments done, and bytes of messages and files, of all ranks together.
enum class ProgressMetric : std::uint8_t { segments, message_bytes, file_bytes };
std::string_view name_of(ProgressMetric metric);

struct RegulationRequest {
  std::string command;  // for what is kept
  RegulatorSettings settings;
  std::vector<ProgressMetric> metrics{ProgressMetric::segments};
  std::optional<double> target;  // segments/s of the whole program; nothing: it is learned
};

/// What came of it.
struct RegulationEnd {
  bool found_job = false;
  bool is_calibrated = false;  // else the program was not regulated: it ended before its targets were known
  std::size_t suspensions = 0;
  double suspended_seconds = 0.0;
  std::size_t missed = 0;               // suspensions that the ranks did not come to
  std::vector<std::string> complaints;  // to be told when the program has ended
};

/// The job must descend from this process. Returns when it is asked to stop, and the ranks then go on.
RegulationEnd regulate_job(const RegulationRequest& request, const std::stop_token& stop);

}  // namespace halcyon::cli
