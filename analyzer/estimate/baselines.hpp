// The method `paper`: a baseline and a threshold for each group, and the excess above.
#pragma once

#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

/// Which segments have excess, and from which duration on it is counted.
struct Baseline {
  double baseline = 0.0;      // s
  double threshold = 0.0;     // s
  double counted_from = 0.0;  // s, for a segment above the threshold

  double excess_of(double duration) const { return duration > threshold ? duration - counted_from : 0.0; }
};

/// The paper, section 2, "Estimating Interference": with m the median and MAD = median(|x - m|), a segment above
/// t = m + 4 MAD is disturbed, and its excess is x - t.
Baseline baseline_paper(Recorded ascending);

/// The run, each group by `baseline_paper`. The interval treats the baselines as exact.
RunEstimate estimate_paper(const JudgedDurations& run, Detail detail);

}  // namespace halcyon
