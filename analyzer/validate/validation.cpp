#include "analyzer/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "analyzer/estimate/estimators.hpp"

namespace halcyon {
namespace {

// Beyond, nearly every call is delayed alike: that is continuous interference, and another question.
constexpr double most_probability = 0.5;
// With fewer, how much is injected is left to chance.
constexpr double fewest_hits_in_a_run = 10.0;
constexpr double deviation_of_delays = 0.2;  // of their mean
constexpr double golden_section = 0.6180339887498949;

// A permutation in which neighbours are far apart, however many there are: ranks of the fractions of multiples of the
// golden section.
std::vector<int> golden_order(int count) {
  const auto fraction = [](int index) { return std::fmod(golden_section * index, 1.0); };
  std::vector<int> order(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) order[static_cast<std::size_t>(i)] += fraction(j) < fraction(i) ? 1 : 0;
  }
  return order;
}

// Place `index` of `count` on the logarithmic scale of hits.
double hits_at(int index, int count) {
  const double place = count > 1 ? static_cast<double>(index) / (count - 1) : 0.5;
  return fewest_hits_per_segment * std::pow(most_hits_per_segment / fewest_hits_per_segment, place);
}

double delay_for(const Calibration& calibration, double added_seconds, double hits) {
  return added_seconds / (static_cast<double>(calibration.segments) * critical_hits(hits, calibration.ranks));
}

PlannedRun injected_run(const Calibration& calibration, double target_percent, double wanted_hits) {
  const double share = target_percent / 100.0;
  const double added_seconds = calibration.run_time_seconds * share / (1.0 - share);
  double hits = std::max(wanted_hits, fewest_hits_in_a_run / static_cast<double>(calibration.segments));
  hits = std::min(hits, most_probability * calibration.calls_per_segment());
  if (delay_for(calibration, added_seconds, hits) < shortest_delay_seconds) {
    // Delays grow as hits become fewer; bisection on the logarithm, to a thousandth.
    double low = hits * 1e-9;
    double high = hits;
    while (high / low > 1.001) {
      const double middle = std::sqrt(low * high);
      (delay_for(calibration, added_seconds, middle) < shortest_delay_seconds ? high : low) = middle;
    }
    hits = low;
  }
  PlannedRun run{.kind = RunKind::injected, .target_percent = target_percent, .hits_per_segment = hits};
  run.probability = hits / calibration.calls_per_segment();
  run.delay_seconds = delay_for(calibration, added_seconds, hits);
  run.deviation_seconds = deviation_of_delays * run.delay_seconds;
  return run;
}

// std::shuffle may differ between standard libraries; the engine may not.
void shuffle(std::vector<PlannedRun>& runs, std::mt19937_64& random) {
  for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random() % i]);
}

}  // namespace

std::string_view name_of(RunKind kind) {
  switch (kind) {
    case RunKind::quiet: return "quiet";
    case RunKind::injected: return "injected";
    case RunKind::disturbed: break;
  }
  return "disturbed";
}

double target_of_level(int level, int injected_levels) {
  return most_target_percent * std::pow(static_cast<double>(level) / injected_levels, 1.5);
}

// E max = Σ_{k ≥ 0} P(max > k) = Σ (1 - F(k)^ranks), F the distribution function of a Poisson variable.
double critical_hits(double hits, int ranks) {
  const double rate = hits / ranks;
  double expected = 0.0;
  for (int k = 0;; ++k) {
    const double tail = boost::math::gamma_p(k + 1.0, rate);  // P(one rank > k), exact where it is tiny
    const double exceeds = -std::expm1(ranks * std::log1p(-tail));
    expected += exceeds;
    if (k > rate && exceeds < 1e-12) return expected;
  }
}

std::vector<PlannedRun> plan_runs(const Calibration& calibration, const PlanRequest& request) {
  const int injected_levels = request.levels - 1;
  // In no band do hits grow with the level, and no band repeats the order of another.
  const std::vector<int> places = golden_order(injected_levels);
  const int shift = std::max(1, injected_levels / request.runs);
  std::mt19937_64 random(request.seed);
  std::vector<PlannedRun> noisy;
  for (int round = 0; round < request.runs; ++round) {
    std::vector<PlannedRun> runs;
    for (int level = 0; level < injected_levels; ++level) {
      const int band = (round + level) % request.runs;
      const int place = (places[static_cast<std::size_t>(level)] + band * shift) % injected_levels;
      const double hits = hits_at(band * injected_levels + place, request.runs * injected_levels);
      runs.push_back(injected_run(calibration, target_of_level(level + 1, injected_levels), hits));
    }
    for (int disturber = 0; disturber < request.disturbers; ++disturber) {
      runs.push_back({.kind = RunKind::disturbed, .disturber = disturber});
    }
    shuffle(runs, random);
    noisy.insert(noisy.end(), runs.begin(), runs.end());
  }
  std::vector<PlannedRun> plan(first_quiet_runs);
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    plan.push_back(noisy[i]);
    if (i % 2 == 1 || i + 1 == noisy.size()) plan.emplace_back();
  }
  for (std::size_t i = 0; i < plan.size(); ++i) plan[i].seed = request.seed + i;
  return plan;
}

std::optional<double> computing_seconds(const Profile& profile) {
  if (profile.counter != "cpu") return std::nullopt;
  const FeatureColumn& compute = profile.features[index_of(Feature::compute)];
  double nanoseconds = 0.0;
  for (std::size_t segment = 0; segment < profile.segments; ++segment) {
    nanoseconds += compute.bins[compute.bin_of(segment)];
  }
  return nanoseconds > 0.0 ? std::optional(1e-9 * nanoseconds) : std::nullopt;
}

std::vector<Truth> Validation::known_truths() const {
  std::vector<Truth> known;
  for (std::size_t i = 0; i < truth_count; ++i) {
    const auto truth = static_cast<Truth>(i);
    const auto is_known = [truth](const ValidatedRun& run) { return run.truth(truth).has_value(); };
    if (std::any_of(runs.begin(), runs.end(), is_known)) known.push_back(truth);
  }
  return known;
}

double soft_accuracy(double truth_percent, double estimate_percent) {
  return 1.0 - std::abs(probability_high(truth_percent) - probability_high(estimate_percent));
}

double quantile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

std::optional<Score> score_of(const ValidatedRun& run, std::size_t method, Truth truth) {
  const MethodResult& result = run.methods[method];
  const std::optional<KnownTruth>& actual = run.truth(truth);
  if (!actual || result.verdict == Verdict::unknown) return std::nullopt;
  const auto holds = [&](double room) {
    return actual->percent >= result.interval_percent.low - room &&
           actual->percent <= result.interval_percent.high + room;
  };
  return Score{.accuracy = soft_accuracy(actual->percent, result.interference_percent),
               .difference_points = std::abs(actual->percent - result.interference_percent),
               .covered = holds(0.0),
               .reached = holds(actual->uncertainty_points.value_or(0.0))};
}

std::size_t fastest_of(const std::vector<ValidatedRun>& runs) {
  const auto shorter = [](const ValidatedRun& a, const ValidatedRun& b) {
    return a.run_time_seconds < b.run_time_seconds;
  };
  return static_cast<std::size_t>(std::min_element(runs.begin(), runs.end(), shorter) - runs.begin());
}

namespace {

bool is_quiet(const ValidatedRun& run) { return run.plan.kind == RunKind::quiet; }

// What the run would have taken had it been quiet, in the unit of `time`, from its nearest quiet neighbours:
// interpolated where there is one before and one after it. At the ends of a series a quiet run has one on one side; no
// other run is held against one alone, as drift would not cancel.
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
std::vector<std::optional<double>> truths_by_pairs(const std::vector<ValidatedRun>& runs, const Time& time) {
  std::vector<std::optional<double>> percents;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::optional<double> quiet = quiet_time(runs, i, time);
    percents.push_back(quiet ? std::optional(100.0 * (1.0 - *quiet / time(runs[i]))) : std::nullopt);
  }
  return percents;
}

// Standard deviation of what quiet runs are said to have taken beyond the quiet time, as the logarithm of the ratio: as
// much longer as shorter counts alike. It should be the same for all.
struct Spread {
  std::size_t runs = 0;
  double deviation = 0.0;  // none of less than `fewest_for_spread` runs
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

Spread spread_of_quiet(const std::vector<ValidatedRun>& runs, const std::vector<std::optional<double>>& percents) {
  std::vector<double> of_quiet;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_quiet(runs[i]) && percents[i] && *percents[i] < 100.0)
      of_quiet.push_back(-std::log1p(-*percents[i] / 100.0));
  }
  return spread_of(of_quiet);
}

constexpr double upper_tail = 0.5 * (1.0 - interval_confidence);

double degrees_of_freedom(const Spread& spread) { return static_cast<double>(spread.runs - 1); }

void set_truths(std::vector<ValidatedRun>& runs, Truth truth, const std::vector<std::optional<double>>& percents) {
  const Spread spread = spread_of_quiet(runs, percents);
  std::optional<double> of_quiet_time;  // as a share of it
  if (spread.runs >= fewest_for_spread) {
    const boost::math::students_t law(degrees_of_freedom(spread));
    of_quiet_time = spread.deviation * boost::math::quantile(boost::math::complement(law, upper_tail));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!percents[i]) continue;
    KnownTruth known{.percent = *percents[i]};
    // A share of the quiet time is a smaller share of a longer run.
    if (of_quiet_time) known.uncertainty_points = *of_quiet_time * std::abs(100.0 - *percents[i]);
    runs[i].truths[index_of(truth)] = known;
  }
}

Noise noise_of(const std::vector<ValidatedRun>& runs, const std::vector<std::optional<double>>& by_pairs) {
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

}  // namespace

std::optional<std::string> objection_to(const Noise& noise) {
  if (noise.background_percent && *noise.background_percent > most_background_percent) {
    return fmt::format("others take {:.0f} % of the processors' time from fixed work (background; {:.0f} is the most)",
                       *noise.background_percent, most_background_percent);
  }
  if (noise.uncertainty_points && noise.uncertainty_points->low > most_uncertainty_points) {
    return fmt::format("{} quiet runs differ so much that the truth is not known to {:.0f} points ({:.1f} is the most)",
                       noise.quiet_runs, noise.uncertainty_points->low, most_uncertainty_points);
  }
  return std::nullopt;
}

Validation summarise(std::vector<ValidatedRun> runs) {
  Validation validation;
  validation.fastest = fastest_of(runs);
  const double least = runs[validation.fastest].run_time_seconds;
  const std::optional<Background> least_background = runs[validation.fastest].background;
  std::vector<double> backgrounds;
  for (const ValidatedRun& run : runs) {
    if (run.background && run.plan.kind != RunKind::disturbed) backgrounds.push_back(run.background->percent());
  }
  if (!backgrounds.empty()) validation.background_percent = quantile(backgrounds, 0.5);

  const auto relative_time = [](const ValidatedRun& run) { return run.run_time_seconds / *run.computing_seconds; };
  double least_relative_time = std::numeric_limits<double>::infinity();
  for (const ValidatedRun& run : runs) {
    if (run.computing_seconds) least_relative_time = std::min(least_relative_time, relative_time(run));
  }
  std::array<std::vector<std::optional<double>>, truth_count> percents;
  for (std::vector<std::optional<double>>& of_truth : percents) of_truth.resize(runs.size());
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

  std::vector<std::optional<double>>& by_pairs = percents[index_of(Truth::paired)];
  by_pairs = truths_by_pairs(runs, [](const ValidatedRun& run) { return run.run_time_seconds; });
  if (std::all_of(runs.begin(), runs.end(),
                  [](const ValidatedRun& run) { return run.background && run.background->quantum_seconds > 0.0; })) {
    const auto at_equal_speed = truths_by_pairs(
        runs, [](const ValidatedRun& run) { return run.run_time_seconds / run.background->quantum_seconds; });
    validation.paired_at_equal_speed =
        spread_of_quiet(runs, at_equal_speed).deviation < spread_of_quiet(runs, by_pairs).deviation;
    if (validation.paired_at_equal_speed) by_pairs = at_equal_speed;
  }
  validation.noise = noise_of(runs, by_pairs);
  for (std::size_t truth = 0; truth < truth_count; ++truth) {
    set_truths(runs, static_cast<Truth>(truth), percents[truth]);
  }
  validation.runs = std::move(runs);
  for (std::size_t method = 0; method < methods.size(); ++method) {
    for (const Truth truth : validation.known_truths()) {
      MethodSummary summary{.method = methods[method].name, .truth = truth};
      for (const ValidatedRun& run : validation.runs) {
        const std::optional<Score> score = score_of(run, method, summary.truth);
        if (!score) continue;
        summary.accuracy.push_back(score->accuracy);
        summary.difference_points.push_back(score->difference_points);
        summary.covered += score->covered ? 1 : 0;
        summary.reached += score->reached ? 1 : 0;
      }
      validation.summaries.push_back(std::move(summary));
    }
  }
  return validation;
}

}  // namespace halcyon
