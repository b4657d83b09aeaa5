#include "analyzer/validate/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/quantile.hpp"

namespace halcyon {
namespace {

using Percents = std::vector<std::optional<double>>;  // (runs)

bool is_quiet(const ValidatedRun& run) { return run.plan.kind == RunKind::quiet; }

// What the run would have taken had it been quiet, in the unit of `time`, from its nearest quiet neighbours. It is
// interpolated where there is one before and one after it. At the ends of a series a quiet run has only one. No other
// run is held against one alone, as drift would not cancel.
template <class Time>
std::optional<double> quiet_time(const std::vector<ValidatedRun>& runs, std::size_t at, const Time& time) {
  const ValidatedRun* before = nullptr;
  const ValidatedRun* after = nullptr;
  for (std::size_t i = 0; i < at; ++i) {
    if (is_quiet(runs[i])) before = &runs[i];
  }
  for (std::size_t i = runs.size() - 1; i > at; --i) {
    if (is_quiet(runs[i])) after = &runs[i];
  }
  if (before != nullptr && after != nullptr) {
    const double between = after->middle_seconds - before->middle_seconds;
    const double place = between > 0.0 ? (runs[at].middle_seconds - before->middle_seconds) / between : 0.5;
    return std::lerp(time(*before), time(*after), place);
  }
  const ValidatedRun* const only = before != nullptr ? before : after;
  return only != nullptr && is_quiet(runs[at]) ? std::optional(time(*only)) : std::nullopt;
}

template <class Time>
Percents truths_by_pairs(const std::vector<ValidatedRun>& runs, const Time& time) {
  Percents percents;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::optional<double> quiet = quiet_time(runs, i, time);
    percents.push_back(quiet ? std::optional(100.0 * (1.0 - *quiet / time(runs[i]))) : std::nullopt);
  }
  return percents;
}

// The standard deviation of the times of quiet runs over the quiet time, in logarithms: longer by a factor counts as
// much as shorter by it. The times should be the same for all.
struct Spread {
  std::size_t runs = 0;
  double deviation = 0.0;  // 0 of fewer than `fewest_for_spread` runs
};
constexpr std::size_t fewest_for_spread = 3;

Spread spread_of(const std::vector<double>& values) {
  Spread spread{.runs = values.size()};
  if (values.size() < fewest_for_spread) return spread;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

Spread spread_of_quiet(const std::vector<ValidatedRun>& runs, const Percents& percents) {
  std::vector<double> of_quiet;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_quiet(runs[i]) && percents[i] && *percents[i] < 100.0)
      of_quiet.push_back(-std::log1p(-*percents[i] / 100.0));
  }
  return spread_of(of_quiet);
}

constexpr double upper_tail = 0.5 * (1.0 - interval_confidence);

double degrees_of_freedom(const Spread& spread) { return static_cast<double>(spread.runs - 1); }

void set_truth(std::vector<ValidatedRun>& runs, Truth truth, const Percents& percents) {
  const Spread spread = spread_of_quiet(runs, percents);
  std::optional<double> of_quiet_time;  // as a share of it
  if (spread.runs >= fewest_for_spread) {
    const boost::math::students_t law(degrees_of_freedom(spread));
    of_quiet_time = spread.deviation * boost::math::quantile(boost::math::complement(law, upper_tail));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!percents[i]) continue;
    KnownTruth known{.percent = *percents[i]};
    // The same time is a smaller share of a longer run.
    if (of_quiet_time) known.uncertainty_points = *of_quiet_time * std::abs(100.0 - *percents[i]);
    runs[i].truths[index_of(truth)] = known;
  }
}

Noise noise_of(const std::vector<ValidatedRun>& runs, const Percents& by_pairs) {
  Noise noise;
  std::vector<double> backgrounds;
  for (const ValidatedRun& run : runs) {
    if (!is_quiet(run)) continue;
    ++noise.quiet_runs;
    if (run.background) backgrounds.push_back(run.background->percent());
  }
  if (!backgrounds.empty()) noise.background_percent = quantile(backgrounds, 0.5);
  const Spread spread = spread_of_quiet(runs, by_pairs);
  if (spread.runs < fewest_for_spread) return noise;
  const boost::math::chi_squared law(degrees_of_freedom(spread));
  const double points =
      100.0 * spread.deviation * boost::math::quantile(boost::math::complement(boost::math::normal(), upper_tail));
  const auto with = [&](double share) { return points * std::sqrt(degrees_of_freedom(spread) / share); };
  noise.uncertainty_points = Interval{with(boost::math::quantile(boost::math::complement(law, upper_tail))),
                                      with(boost::math::quantile(law, upper_tail))};
  return noise;
}

// Against the fastest run.
std::array<Percents, truth_count> truths_by_fastest(const std::vector<ValidatedRun>& runs) {
  const ValidatedRun& fastest = runs[fastest_of(runs)];
  const double least = fastest.run_time_seconds;
  const std::optional<Background> least_background = fastest.background;
  const auto relative_time = [](const ValidatedRun& run) { return run.run_time_seconds / *run.computing_seconds; };
  double least_relative_time = std::numeric_limits<double>::infinity();
  for (const ValidatedRun& run : runs) {
    if (run.computing_seconds) least_relative_time = std::min(least_relative_time, relative_time(run));
  }
  std::array<Percents, truth_count> percents;
  for (Percents& of_truth : percents) of_truth.resize(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ValidatedRun& run = runs[i];
    const auto percent = [&run](double seconds) { return 100.0 * seconds / run.run_time_seconds; };
    const auto set = [&percents, i](Truth truth, double value) { percents[index_of(truth)][i] = value; };
    const double beyond = run.run_time_seconds - least;
    set(Truth::measured, percent(beyond));
    set(Truth::without_displacement, percent(beyond - run.displacement_seconds));
    if (least_background) {
      set(Truth::with_background, percent(beyond + least * least_background->percent() / 100.0));
    }
    if (run.computing_seconds) set(Truth::at_equal_speed, 100.0 * (1.0 - least_relative_time / relative_time(run)));
  }
  return percents;
}

}  // namespace

std::optional<double> computing_seconds(const Profile& profile) {
  if (profile.counter != "cpu") return std::nullopt;
  const FeatureColumn& compute = profile.features[index_of(Feature::compute)];
  double nanoseconds = 0.0;
  for (std::size_t segment = 0; segment < profile.segments; ++segment) {
    nanoseconds += compute.bins[compute.bin_of(segment)];
  }
  return nanoseconds > 0.0 ? std::optional(1e-9 * nanoseconds) : std::nullopt;
}

std::size_t fastest_of(const std::vector<ValidatedRun>& runs) {
  const auto shorter = [](const ValidatedRun& a, const ValidatedRun& b) {
    return a.run_time_seconds < b.run_time_seconds;
  };
  return static_cast<std::size_t>(std::min_element(runs.begin(), runs.end(), shorter) - runs.begin());
}

std::optional<std::string> objection_to(const Noise& noise) {
  if (noise.background_percent && *noise.background_percent > most_background_percent) {
    return fmt::format("other work takes {:.0f} % of the time of a fixed loop (background; the limit is {:.0f} %)",
                       *noise.background_percent, most_background_percent);
  }
  if (noise.uncertainty_points && noise.uncertainty_points->low > most_uncertainty_points) {
    return fmt::format(
        "{} quiet runs differ so much that the truth is uncertain by {:.0f} points (the limit is {:.1f})",
        noise.quiet_runs, noise.uncertainty_points->low, most_uncertainty_points);
  }
  return std::nullopt;
}

SeriesTruth set_truths(std::vector<ValidatedRun>& runs) {
  SeriesTruth series;
  std::array<Percents, truth_count> percents = truths_by_fastest(runs);
  Percents& by_pairs = percents[index_of(Truth::paired)];
  by_pairs = truths_by_pairs(runs, [](const ValidatedRun& run) { return run.run_time_seconds; });
  if (std::all_of(runs.begin(), runs.end(),
                  [](const ValidatedRun& run) { return run.background && run.background->quantum_seconds > 0.0; })) {
    const auto at_equal_speed = truths_by_pairs(
        runs, [](const ValidatedRun& run) { return run.run_time_seconds / run.background->quantum_seconds; });
    series.paired_at_equal_speed =
        spread_of_quiet(runs, at_equal_speed).deviation < spread_of_quiet(runs, by_pairs).deviation;
    if (series.paired_at_equal_speed) by_pairs = at_equal_speed;
  }
  series.noise = noise_of(runs, by_pairs);
  for (std::size_t truth = 0; truth < truth_count; ++truth) {
    set_truth(runs, static_cast<Truth>(truth), percents[truth]);
  }
  return series;
}

}  // namespace halcyon
