// The machine's background: the time that fixed work loses on the ranks' cores before and after the run. It is not part
// of the run's interference.
#pragma once

#include <optional>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Losses are in percent of the time that fixed work took, 100 (1 - q / mean), with q the 1 % quantile of its time. All
/// are means over ranks.
struct Background {
  double before_percent = 0.0;
  double after_percent = 0.0;
  double quantum_seconds = 0.0;  // q, mean over ranks and both times: the speed of the machine

  double percent() const { return 0.5 * (before_percent + after_percent); }
};

/// None if it was not measured.
std::optional<Background> background_of(const Profile& profile);

}  // namespace halcyon
