#include "analyzer/repeat/series.hpp"

#include <Eigen/Core>

#include <cmath>

#include "analyzer/repeat/random_effects.hpp"
#include "analyzer/statistics/line.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

constexpr double significance_confidence = 0.99;

/// The runs that count, by what of them counts.
struct Counted {
  std::vector<double> measured;            // s
  std::vector<double> quiet;               // s, as measured
  std::vector<UncertainTime> undisturbed;  // of all
  std::vector<UncertainTime> of_quiet;
  std::vector<UncertainTime> of_red;
};

Counted counted(std::span<const RepeatedRun> runs, std::span<const std::optional<Unused>> unused) {
  Counted result;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RepeatedRun& run = runs[i];
    if (unused[i] && unused[i] != Unused::no_estimate) continue;
    result.measured.push_back(run.measured_seconds);
    const bool is_quiet = run.verdict == Verdict::green || run.verdict == Verdict::yellow;
    if (is_quiet) result.quiet.push_back(run.measured_seconds);
    if (!run.undisturbed) continue;
    const UncertainTime& time = result.undisturbed.emplace_back(run.undisturbed->uncertain());
    if (is_quiet) result.of_quiet.push_back(time);
    if (run.verdict == Verdict::red) result.of_red.push_back(time);
  }
  return result;
}

// The undisturbed mean above another one, by more than both intervals allow.
std::optional<Contradiction> above(ContradictionCode code, const MeanTime& undisturbed, const MeanTime& other) {
  if (!undisturbed.interval_seconds || !other.interval_seconds) return std::nullopt;
  if (undisturbed.interval_seconds->low <= other.interval_seconds->high) return std::nullopt;
  const auto percent = [](double first, double second) { return 100.0 * (first / second - 1.0); };
  return Contradiction{code,
                       percent(undisturbed.mean_seconds, other.mean_seconds),
                       {percent(undisturbed.interval_seconds->low, other.interval_seconds->high),
                        percent(undisturbed.interval_seconds->high, other.interval_seconds->low)}};
}

// Of the undisturbed times of the red runs from those of the quiet runs.
std::optional<Contradiction> difference_of_red(const Counted& runs) {
  if (runs.of_quiet.size() < 2 || runs.of_red.size() < 2) return std::nullopt;
  const Precision precision{.confidence = significance_confidence};
  const MeanTime quiet = mean_of(runs.of_quiet, precision);
  const MeanTime red = mean_of(runs.of_red, precision);
  const double difference = red.mean_seconds - quiet.mean_seconds;
  const auto reach_below = [](const MeanTime& mean) { return mean.mean_seconds - mean.interval_seconds->low; };
  const auto reach_above = [](const MeanTime& mean) { return mean.interval_seconds->high - mean.mean_seconds; };
  const Interval interval{difference - std::hypot(reach_below(red), reach_above(quiet)),
                          difference + std::hypot(reach_above(red), reach_below(quiet))};
  if (!excludes_zero(interval)) return std::nullopt;
  const double percent = 100.0 / quiet.mean_seconds;
  return Contradiction{
      difference > 0.0 ? ContradictionCode::disturbed_runs_higher : ContradictionCode::disturbed_runs_lower,
      percent * difference,
      {percent * interval.low, percent * interval.high}};
}

std::optional<Contradiction> contradiction_in(const SeriesSummary& series, const Counted& runs) {
  if (auto found = above(ContradictionCode::above_quiet, series.undisturbed, series.quiet)) return found;
  if (auto found = above(ContradictionCode::above_measured, series.undisturbed, series.measured)) return found;
  return difference_of_red(runs);
}

// From the first run to the last, in percent of the mean, if that is significant.
std::optional<double> drift_percent(std::span<const UncertainTime> times) {
  const auto count = static_cast<Eigen::Index>(times.size());
  const Estimates estimates = estimates_of(times);
  const WeightedMean mean = random_effects_mean(estimates.values, estimates.errors);
  const std::optional<Line> line = fit_line(Eigen::ArrayXd::LinSpaced(count, 0.0, 1.0),
                                            Eigen::Map<const Eigen::ArrayXd>(estimates.values.data(), count),
                                            Eigen::Map<const Eigen::ArrayXd>(mean.weights.data(), count));
  if (!line) return std::nullopt;
  const double quantile = student_quantile_of_interval(significance_confidence, static_cast<double>(line->freedom));
  if (std::abs(line->slope) <= quantile * line->slope_error) return std::nullopt;
  return 100.0 * line->slope / mean.mean;
}

std::vector<Caveat> caveats_of(const SeriesSummary& series, const Counted& runs) {
  std::vector<Caveat> caveats;
  if (runs.undisturbed.empty()) return caveats;
  const MeanTime& mean = series.undisturbed;
  if (mean.dependence.is_significant) caveats.push_back({CaveatCode::correlated, mean.dependence.autocorrelation});
  if (const std::optional<double> drift = drift_percent(runs.undisturbed))
    caveats.push_back({CaveatCode::drift, *drift});
  const bool are_too_few = mean.runs < least_runs_for_correlation && !mean.dependence.is_significant;
  if (are_too_few) caveats.push_back({CaveatCode::few_runs, static_cast<double>(mean.runs)});
  if (series.quiet.runs == 0) caveats.push_back({CaveatCode::all_disturbed, static_cast<double>(mean.runs)});
  return caveats;
}

}  // namespace

SeriesSummary summarise(std::span<const RepeatedRun> runs, const SeriesRequest& request) {
  SeriesSummary series;
  series.warm_up_runs = request.warm_up_runs ? *request.warm_up_runs : warm_up_runs(runs);
  series.unused = reasons_against(runs, series.warm_up_runs);
  series.hosts = hosts_seen(runs);
  const Counted counted_runs = counted(runs, series.unused);
  series.measured = mean_of(counted_runs.measured, request.precision);
  series.quiet = mean_of(counted_runs.quiet, request.precision);
  series.undisturbed = mean_of(counted_runs.undisturbed, request.precision);
  series.contradiction = contradiction_in(series, counted_runs);
  series.caveats = caveats_of(series, counted_runs);
  return series;
}

}  // namespace halcyon
