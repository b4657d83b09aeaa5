#include "analyzer/repeat/series_run.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

constexpr std::size_t least_runs_behind_trial = 4;
constexpr double confidence_of_trial = 0.999;

// Whether a new value is not one of those: Student's prediction interval, with the value's own standard error.
bool differs_from(std::span<const double> values, const UncertainTime& value) {
  const auto count = static_cast<double>(values.size());
  const double middle = mean_value(values);
  const double distance = value.seconds - middle;
  const double own_error = distance > 0.0 ? value.error_below : value.error_above;
  const double error =
      std::hypot(std::sqrt(squares_about(values, middle) / (count - 1.0) * (1.0 + 1.0 / count)), own_error);
  return std::abs(distance) > student_quantile_of_interval(confidence_of_trial, count - 1.0) * error;
}

}  // namespace

std::vector<std::optional<Unused>> reasons_against(std::span<const RepeatedRun> runs, std::size_t warm_up_runs) {
  std::vector<std::optional<Unused>> reasons;
  std::size_t finished = 0;
  for (const RepeatedRun& run : runs) {
    if (run.end == RunEnd::failed) {
      reasons.emplace_back(Unused::failed);
    } else if (run.end == RunEnd::other_work) {
      reasons.emplace_back(Unused::other_work);
    } else if (++finished <= warm_up_runs) {
      reasons.emplace_back(Unused::warm_up);
    } else {
      reasons.push_back(run.undisturbed ? std::nullopt : std::optional(Unused::no_estimate));
    }
  }
  return reasons;
}

std::size_t hosts_seen(std::span<const RepeatedRun> runs) {
  std::set<std::string_view> hosts;
  for (const RepeatedRun& run : runs) hosts.insert(run.hosts.begin(), run.hosts.end());
  return hosts.size();
}

std::size_t warm_up_runs(std::span<const RepeatedRun> runs) {
  std::vector<const RepeatedRun*> finished;
  for (const RepeatedRun& run : runs) {
    if (run.end == RunEnd::finished) finished.push_back(&run);
  }
  const std::size_t on_trial = finished.size() >= most_warm_up_runs + least_runs_behind_trial ? most_warm_up_runs : 1;
  if (finished.size() < on_trial + least_runs_behind_trial) return 0;
  std::vector<double> rest;
  for (std::size_t i = on_trial; i < finished.size(); ++i) {
    if (finished[i]->undisturbed) rest.push_back(finished[i]->undisturbed->seconds);
  }
  if (rest.size() < least_runs_behind_trial) return 0;
  std::size_t count = 0;
  while (count < on_trial && finished[count]->undisturbed &&
         differs_from(rest, finished[count]->undisturbed->uncertain())) {
    ++count;
  }
  return count;
}

}  // namespace halcyon
