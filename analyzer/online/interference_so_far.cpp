#include "analyzer/online/interference_so_far.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analyzer/estimate/compound.hpp"
#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/groups/grouping.hpp"

namespace halcyon {
namespace {

// More durations would make the estimate slower, but hardly better.
constexpr std::uint64_t most_durations = 20'000;  // of all kinds

// A record from elsewhere may hold any numbers.
std::uint64_t sum_within(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

// The durations that a histogram tells, one of every `thinning`, ascending.
std::vector<float> spread_out(const DurationHistogram& histogram, std::uint64_t thinning) {
  std::vector<float> durations;
  std::uint64_t skip = thinning / 2;  // before the next one
  const auto add = [&](std::uint64_t count, double low, double high) {
    std::uint64_t i = skip;
    for (; i < count; i += thinning) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      durations.push_back(static_cast<float>(std::lerp(low, high, share)));
      if (count - i <= thinning) break;
    }
    skip = i < count ? thinning - (count - i) : i - count;
  };
  const auto add_all = [&add](std::uint64_t count, double seconds) {
    const double mean = count > 0 ? seconds / static_cast<double>(count) : 0.0;
    add(count, mean, mean);
  };
  add_all(histogram.below, histogram.below_seconds);
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    add(histogram.counts[bin], histogram.edges[bin], histogram.edges[bin + 1]);
  }
  add_all(histogram.above, histogram.above_seconds);
  return durations;
}

// Half of the widest bin that is used, as a share of the durations in it: no baseline is known better.
double resolution_of(const DurationHistogram& histogram) {
  double widest = 0.0;
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    if (histogram.counts[bin] == 0) continue;
    widest = std::max(widest, 0.5 * (histogram.edges[bin + 1] / histogram.edges[bin] - 1.0));
  }
  return widest;
}

// Longer than nothing, and no longer than a few centuries.
bool are_possible(const std::vector<float>& durations) {
  constexpr float longest = 1e10F;  // s
  return std::all_of(durations.begin(), durations.end(),
                     [](float duration) { return duration > 0.0F && duration <= longest; });
}

// In an order that shows no drift: the time at which each segment ran is not known. The step is about the golden
// section of the number, and coprime to it.
std::vector<float> scattered(const std::vector<float>& ascending) {
  const std::size_t size = ascending.size();
  auto step = static_cast<std::size_t>(0.6180339887 * static_cast<double>(size)) | 1U;
  while (std::gcd(step, size) != 1) ++step;
  std::vector<float> durations(size);
  for (std::size_t i = 0; i < size; ++i) durations[i * step % size] = ascending[i];
  return durations;
}

}  // namespace

std::uint64_t DurationHistogram::segments() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum = sum_within(sum, count);
  return sum_within(sum, sum_within(below, above));
}

std::optional<InterferenceSoFar> interference_so_far(std::span<const KindOfSegments> kinds, double recorded_seconds,
                                                     DurationLaws& laws) {
  InterferenceSoFar result;
  result.kinds.resize(kinds.size());
  std::uint64_t segments = 0;
  for (const KindOfSegments& kind : kinds) segments = sum_within(segments, kind.durations.segments());
  const std::uint64_t thinning = segments / most_durations + 1;

  JudgedDurations judged{.is_in_order = false};
  std::vector<std::size_t> kind_of_group;
  double judged_seconds = 0.0;
  double resolution = 0.0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].durations.segments() < smallest_judged_group || !(kinds[i].seconds > 0.0)) continue;
    const std::vector<float> durations = spread_out(kinds[i].durations, thinning);
    if (durations.size() < smallest_judged_group || !are_possible(durations)) continue;
    result.kinds[i].is_judged = true;
    kind_of_group.push_back(i);
    judged_seconds += kinds[i].seconds;
    resolution = std::max(resolution, resolution_of(kinds[i].durations));
    add_group(judged, {.durations = scattered(durations)});
  }
  if (kind_of_group.empty()) return std::nullopt;
  const std::vector<double> seconds = judged.seconds_of_groups();
  judged.run_time = std::accumulate(seconds.begin(), seconds.end(), 0.0);

  const RunEstimate estimate = estimate_compound(judged, Detail::groups, laws);
  double excess = 0.0;
  for (std::size_t group = 0; group < kind_of_group.size(); ++group) {
    KindSoFar& kind = result.kinds[kind_of_group[group]];
    const KindOfSegments& of = kinds[kind_of_group[group]];
    kind.baseline = estimate.groups[group].baseline;
    kind.excess_seconds = estimate.groups[group].excess_seconds / seconds[group] * of.seconds;
    excess += kind.excess_seconds;
  }
  const auto percent_of = [&judged](double part) { return 100.0 * part / judged.run_time; };
  result.percent = std::clamp(100.0 * excess / judged_seconds, 0.0, 100.0);
  result.interval_percent = {std::max(0.0, percent_of(estimate.excess_seconds.low) - 100.0 * resolution),
                             std::min(100.0, percent_of(estimate.excess_seconds.high) + 100.0 * resolution)};
  result.interval_percent.low = std::min(result.interval_percent.low, result.percent);
  result.interval_percent.high = std::max(result.interval_percent.high, result.percent);
  result.coverage_percent = 100.0 * std::min(1.0, judged_seconds / std::max(judged_seconds, recorded_seconds));
  return result;
}

}  // namespace halcyon
