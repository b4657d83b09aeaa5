// Regulates a running job: reads its progress from its live record, and makes its ranks stand still while progress is
// poor.
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
  std::string command;  // for the kept targets
  RegulatorSettings settings;
  std::vector<ProgressMetric> metrics{ProgressMetric::segments};
  std::optional<double> target;  // segments/s of the whole program; nothing: it is learned
};

/// The result.
struct RegulationEnd {
  bool found_job = false;
  bool is_calibrated = false;  // otherwise the program ended before its targets were known, and was not regulated
  std::size_t suspensions = 0;
  std::size_t since_others_had_cores = 0;  // of them; the others since progress was poor
  double suspended_seconds = 0.0;
  std::size_t missed = 0;               // suspensions that the ranks did not reach
  std::vector<std::string> complaints;  // to be printed when the program has ended
};

/// The job must descend from this process. Returns when it is asked to stop; the ranks then continue.
RegulationEnd regulate_job(const RegulationRequest& request, const std::stop_token& stop);

}  // namespace halcyon::cli
