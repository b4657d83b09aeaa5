#include "analyzer/known/known_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double most_scatter_of_parts = 0.1;

std::vector<double> seconds_of_parts(const Profile& profile) {
  // As the records of earlier versions have it.
  const PartsByCount parts{.segments = profile.segments, .count = known_part_count, .edge = PartsByCount::Edge::after};
  std::vector<double> seconds(known_part_count, 0.0);
  for (std::size_t segment = 0; segment < profile.segments; ++segment) {
    seconds[parts.of(segment)] += static_cast<double>(profile.duration[segment]);
  }
  return seconds;
}

// `seconds`: of the run's parts.
void add_times(KnownParts& known, const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < known_part_count; ++i) {
    KnownPart& part = known.parts[i];
    if (seconds[i] < part.best) {
      part = {seconds[i], part.best};
    } else if (known.runs == 1 || seconds[i] < part.second) {
      part.second = seconds[i];
    }
  }
  ++known.runs;
}

// The standard deviation of the parts of undisturbed runs, as a share of their time. It is the smaller of two
// estimates, which disturbance can only raise. One is the gap between the best and the second best time of a part. The
// other is how this run's distance from the best of the other runs changes from one part to the next.
double scatter_of_parts(const KnownParts& others, const KnownParts& all, const std::vector<double>& seconds) {
  const auto k = static_cast<double>(all.runs);
  const double expected_gap = expected_order_statistic(2.0, k) - expected_order_statistic(1.0, k);
  std::vector<double> gaps;
  std::vector<double> changes;
  std::optional<double> before;
  for (std::size_t i = 0; i < known_part_count; ++i) {
    if (!(all.parts[i].best > 0.0)) continue;
    gaps.push_back((all.parts[i].second - all.parts[i].best) / all.parts[i].best / expected_gap);
    const double beyond = std::log(seconds[i] / others.parts[i].best);
    if (before) changes.push_back(std::abs(beyond - *before));
    before = beyond;
  }
  if (gaps.empty() || changes.empty()) return 0.0;
  // The median of |x - y| for normal values of standard deviation 1.
  const double median_change = std::numbers::sqrt2 * normal_quantile(0.75);
  return std::min(median_in_place(gaps), median_in_place(changes) / median_change);
}

}  // namespace

std::optional<KnownParts> parts_of(const Profile& profile) {
  if (profile.segments < known_part_count) return std::nullopt;
  KnownParts known{.segments = profile.segments, .runs = 1};
  for (const double seconds : seconds_of_parts(profile)) known.parts.push_back({seconds, seconds});
  return known;
}

void add_run(KnownParts& known, const Profile& profile) { add_times(known, seconds_of_parts(profile)); }

std::optional<double> best_seconds_after(const KnownParts& known, std::uint64_t segments) {
  if (segments > known.segments) return std::nullopt;
  const double done =
      static_cast<double>(known_part_count) * static_cast<double>(segments) / static_cast<double>(known.segments);
  double seconds = 0.0;
  for (std::size_t i = 0; i < known_part_count; ++i) {
    seconds += known.parts[i].best * std::clamp(static_cast<double>(i + 1) - done, 0.0, 1.0);
  }
  return seconds;
}

std::optional<KnownRuns::OfParts> beyond_parts(const Profile& profile, const std::optional<KnownParts>& known) {
  if (!known || known->segments != profile.segments) return std::nullopt;
  const std::vector<double> seconds = seconds_of_parts(profile);
  KnownParts all = *known;
  add_times(all, seconds);
  double beyond = 0.0;
  double best = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < known_part_count; ++i) {
    beyond += seconds[i] - all.parts[i].best;
    best += all.parts[i].best;
    squares += all.parts[i].best * all.parts[i].best;
  }
  const double scatter = scatter_of_parts(*known, all, seconds);
  const auto by_chance = [&](double deviation) {
    return -expected_order_statistic(1.0, static_cast<double>(all.runs)) * deviation * best;
  };
  const auto half_width = [&](double deviation) {
    return by_chance(deviation) + normal_quantile_of_interval() * deviation * std::sqrt(squares);
  };
  // Parts that scatter more were disturbed, or the program itself varies. The lower end allows for the second.
  const double usual_scatter = std::min(scatter, most_scatter_of_parts);
  const double likely = beyond - by_chance(usual_scatter);
  return KnownRuns::OfParts{known->runs, likely, beyond - by_chance(scatter) - half_width(scatter),
                            likely + half_width(usual_scatter)};
}

}  // namespace halcyon
