// What the method `compound` measures in one group before it fits laws.
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/estimate/call_time.hpp"
#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// A group with its segments converted to the same work. Times are s for an average segment. A duration is the sum of
/// `usual` and the time of calls beyond it.
struct ConvertedGroup {
  std::optional<Durations> factors;  // (segments) by which baselines differ with their work, mean 1
  double mean = 0.0;
  double at_full_speed = 0.0;  // the mean, had the machine been at full speed
  double median_at_full_speed = 0.0;
  double slowness = 1.0;  // durations on average, in units of those at full speed
  double usual = 0.0;
  double far_out = 0.0;  // the excess of rare segments far from the others; in `usual`
  CallTime calls;        // not in `usual`
  Cells cells;           // of what is usual
};

ConvertedGroup converted_group(const JudgedDurations& run, std::size_t group);

}  // namespace halcyon
