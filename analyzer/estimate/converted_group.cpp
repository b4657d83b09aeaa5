#include "analyzer/estimate/converted_group.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/groups/recurring.hpp"
#include "analyzer/groups/speeds.hpp"
#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/median.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double least_usual = 1e-3;  // Numerics: of the duration

// Rare segments far above the median are delayed, whatever law the rest follows. They lie beyond a limit, which is
// infinite where that is too many of them.
struct FarOut {
  double median;
  double limit;
};

FarOut far_out_limit(const Durations& ascending) {
  const double middle = median_of_ascending(ascending);
  const double spread = deviation_below(middle, ascending[ascending.size() / 4]);
  const double limit = middle + far_out_spreads * std::max(spread, least_usual * middle);
  const auto within = std::upper_bound(ascending.data(), ascending.data() + ascending.size(), limit) - ascending.data();
  const bool are_rest_rare = static_cast<double>(within) >= nearly_whole * static_cast<double>(ascending.size());
  return {middle, are_rest_rare ? limit : std::numeric_limits<double>::infinity()};
}

// The excess of rare segments far out, on average over all segments.
double far_out_of(const Durations& ascending) {
  const FarOut far = far_out_limit(ascending);
  return (ascending > far.limit).select(ascending - far.median, 0.0).mean();
}

Durations sorted(Durations values) {
  sort_ascending({values.data(), static_cast<std::size_t>(values.size())});
  return values;
}

// What to divide the time of each segment by, so that segments with different `factors` can be compared. A delay does
// not grow with the work of the segment that it strikes. So where a segment is far out, only its baseline is divided.
// `scaled`: durations over factors; those of segments far out are put right.
Durations scales_of(const Durations& factors, Durations& scaled) {
  const FarOut far = far_out_limit(sorted(scaled));
  const Durations delays = (scaled - far.median) * factors;
  const Durations scales = (scaled > far.limit).select(1.0, factors);
  scaled = (scaled > far.limit).select(far.median + delays, scaled);
  return scales;
}

}  // namespace

ConvertedGroup converted_group(const JudgedDurations& run, std::size_t group) {
  const auto seconds = [&](const std::vector<float>& column) {
    const Recorded values = run.of(column, group);
    return Eigen::Map<const Eigen::ArrayXf>(values.data(), static_cast<Eigen::Index>(values.size())).cast<double>();
  };
  Durations usual = seconds(run.durations);
  // A column of ones would take as much memory as the durations.
  std::optional<Durations> slowness;
  if (!run.slowness.empty()) {
    slowness = seconds(run.slowness);
    usual /= *slowness;
  }
  ConvertedGroup converted;
  const auto divide_by = [&](std::optional<Durations> factors) {
    if (!factors) return;
    usual /= *factors;
    converted.factors = converted.factors ? *converted.factors * *factors : std::move(*factors);
  };
  const bool is_joined = run.is_joined[group];
  if (is_joined) divide_by(seconds(run.expected));
  if (is_joined || !run.work.empty()) divide_by(work_factors(usual, seconds(is_joined ? run.expected : run.work)));
  if (run.is_in_order) divide_by(recurring_factors(usual));
  std::optional<Durations> scales;
  if (converted.factors) scales = scales_of(*converted.factors, usual);
  converted.mean = slowness ? (usual * *slowness).mean() : usual.mean();
  converted.at_full_speed = usual.mean();
  converted.slowness = slowness ? slowness->mean() : 1.0;
  double longest = 0.0;
  const auto look_at = [&](const auto& ascending) {
    converted.median_at_full_speed = median_of_ascending(ascending);
    const auto last = static_cast<double>(ascending.size() - 1);
    longest = static_cast<double>(*(ascending.begin() + static_cast<std::ptrdiff_t>(counted_share * last)));
  };
  slowness || scales ? look_at(sorted(usual)) : look_at(run.of(run.ascending, group));
  if (!run.beyond_usual.empty()) {
    Durations beyond = seconds(run.beyond_usual);
    if (slowness) beyond /= *slowness;
    if (scales) beyond /= *scales;
    beyond *= share_on_critical_path(usual, beyond, longest);
    usual = (usual - beyond).max(least_usual * usual);
    converted.calls = call_time_of(std::move(beyond), converted.at_full_speed, run.is_on_several_hosts);
  }
  usual = usual.max(least_usual * converted.at_full_speed);
  converted.usual = usual.mean();
  const Durations ascending = sorted(std::move(usual));
  converted.far_out = far_out_of(ascending);
  converted.cells = cells_of({ascending.data(), static_cast<std::size_t>(ascending.size())});
  return converted;
}

}  // namespace halcyon
