#include "analyzer/estimate/level.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "analyzer/groups/drift.hpp"
#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/parabola.hpp"

namespace halcyon {
namespace {

constexpr double least_usual = 1e-3;  // of the duration
// Prior density of jitter of 5 to 20 % against that of less. Most jitter is of computation. CPU time shows it,
// instructions do not.
constexpr double wide_jitter_of_time = 0.003;
constexpr double wide_jitter_unseen = 0.1;

// Rare segments far above the median are delayed, whatever law the rest follows. Returns the median of `durations` and
// the limit beyond which they lie: infinite where that is too many of them.
struct FarOut {
  double median;
  double limit;
};

FarOut far_out_limit(const Durations& durations) {
  constexpr double far = 8.0;   // spreads above the median
  constexpr double rare = 0.1;  // of the segments
  constexpr double quartile_of_normal = 0.6745;
  const double middle = median(durations);
  const double spread = (middle - lower_quartile(durations)) / quartile_of_normal;
  const double limit = middle + far * std::max(spread, least_usual * middle);
  const auto count = static_cast<double>((durations > limit).count());
  const bool is_rare = count <= rare * static_cast<double>(durations.size());
  return {middle, is_rare ? limit : std::numeric_limits<double>::infinity()};
}

// The excess of rare segments far out, on average over all segments.
double far_out_of(const Durations& durations) {
  const FarOut far = far_out_limit(durations);
  return (durations > far.limit).select(durations - far.median, 0.0).mean();
}

// What to divide the time of each segment by, so that segments with different `factors` can be compared. A delay does
// not grow with the work of the segment that it strikes. So where a segment is far out, only its baseline is divided.
// `scaled`: durations over factors; those of segments far out are put right.
Durations scales_of(const Durations& factors, Durations& scaled) {
  const FarOut far = far_out_limit(scaled);
  const Durations delays = (scaled - far.median) * factors;
  const Durations scales = (scaled > far.limit).select(1.0, factors);
  scaled = (scaled > far.limit).select(far.median + delays, scaled);
  return scales;
}

}  // namespace

Level level_of(const JudgedDurations& run, std::size_t group, DurationLaws& laws) {
  const auto seconds = [&](const std::vector<float>& column) {
    const Recorded values = run.of(column, group);
    return Eigen::Map<const Eigen::ArrayXf>(values.data(), static_cast<Eigen::Index>(values.size())).cast<double>();
  };
  Durations usual = seconds(run.durations);
  Durations slowness = Durations::Ones(usual.size());
  if (!run.slowness.empty()) {
    slowness = seconds(run.slowness);
    usual /= slowness;
  }
  Level level;
  const auto divide_by = [&](std::optional<Durations> factors) {
    if (!factors) return;
    usual /= *factors;
    level.factors = level.factors ? *level.factors * *factors : std::move(*factors);
  };
  const bool knows_work = !run.work.empty() && !run.work_is_time;
  if (!run.work.empty()) divide_by(work_factors(usual, seconds(run.work)));
  // CPU time that goes up and down slowly may be more work, or a slower machine.
  if (level.factors && run.work_is_time) level.raised = slow_rise_of(*level.factors) * usual.mean();
  if (std::optional<Durations> drift = drift_of(usual)) {
    level.drifted = 1.0 - drift->minCoeff();
    divide_by(std::move(drift));
  }
  const Durations scales = level.factors ? scales_of(*level.factors, usual) : Durations::Ones(usual.size());
  level.mean = (usual * slowness).mean();
  level.at_full_speed = usual.mean();
  level.median_at_full_speed = median(usual);
  level.slowness = slowness.mean();
  level.drifted *= level.at_full_speed;
  if (!run.beyond_usual.empty()) {
    Durations beyond = seconds(run.beyond_usual);
    beyond /= slowness * scales;
    beyond *= share_on_critical_path(usual, beyond);
    level.calls = call_time_of(beyond, level.at_full_speed, run.is_on_several_hosts);
    usual = (usual - beyond).max(least_usual * usual);
  }
  // A level that is raised for a while, by a neighbour or a lower clock rate, would look like many small delays.
  if (const std::optional<Durations> raised = raised_levels_of(usual)) {
    level.raised += raised->mean();
    if (knows_work) level.raised_by_machine = raised->mean();
    usual -= *raised;
  }
  usual = usual.max(least_usual * level.at_full_speed);
  level.usual = usual.mean();
  level.far_out = far_out_of(usual);
  level.explanations = explain({usual.data(), static_cast<std::size_t>(usual.size())}, laws,
                               run.work_is_time ? wide_jitter_of_time : wide_jitter_unseen);
  return level;
}

}  // namespace halcyon
