#include "analyzer/estimate/judged_durations.hpp"

#include <numeric>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {

std::vector<double> JudgedDurations::seconds_of_groups() const {
  std::vector<double> seconds;
  for (std::size_t group = 0; group < groups(); ++group) {
    const Recorded values = of(durations, group);
    seconds.push_back(std::accumulate(values.begin(), values.end(), 0.0));
  }
  return seconds;
}

void add_group(JudgedDurations& run, const RecordedGroup& group) {
  const auto append = [](std::vector<float>& column, Recorded values) {
    column.insert(column.end(), values.begin(), values.end());
  };
  append(run.durations, group.durations);
  append(run.ascending, group.durations);
  sort_ascending(std::span(run.ascending).last(group.durations.size()));
  append(run.beyond_usual, group.beyond_usual);
  append(run.surely_lost, group.surely_lost);
  append(run.slow_ranks, group.slow_ranks);
  append(run.work, group.work);
  append(run.largest_work, group.largest_work);
  append(run.expected, group.expected);
  run.is_joined.push_back(group.is_joined);
  run.begin.push_back(run.durations.size());
  run.calls.push_back(group.calls);
}

}  // namespace halcyon
