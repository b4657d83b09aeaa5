#include "analyzer/estimate/surely_lost.hpp"

#include <algorithm>
#include <numeric>

namespace halcyon {

void raise_to_surely_lost(RunEstimate& estimate, const JudgedDurations& run) {
  if (run.surely_lost.empty()) return;
  double all_lost = 0.0;
  double all_excess = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const Recorded lost = run.of(run.surely_lost, group);
    const double seconds = std::accumulate(lost.begin(), lost.end(), 0.0);
    GroupEstimate& of_group = estimate.groups[group];
    all_lost += seconds;
    if (const double more = seconds - of_group.excess_seconds; more > 0.0) {
      add_continuous(of_group, run.size(group), more);
      for (std::size_t i = 0; !estimate.excess.empty() && i < lost.size(); ++i) {
        estimate.excess[run.begin[group] + i] += static_cast<float>(more * static_cast<double>(lost[i]) / seconds);
      }
    }
    all_excess += of_group.excess_seconds;
  }
  estimate.excess_seconds.low = std::max(estimate.excess_seconds.low, all_lost);
  estimate.excess_seconds.high = std::max(estimate.excess_seconds.high, all_excess);
}

double surely_needed_seconds(const JudgedDurations& run) {
  if (!run.work_is_time || run.work.empty()) return 0.0;
  constexpr double seconds_of_work = 1e-9;  // CPU time is in ns
  double seconds = 0.0;
  for (std::size_t group = 0; group < run.groups(); ++group) {
    const Recorded work = run.of(run.work, group);
    seconds +=
        seconds_of_work * static_cast<double>(work.size()) * static_cast<double>(*std::ranges::min_element(work));
  }
  return seconds;
}

}  // namespace halcyon
