#include "analyzer/validation.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "analyzer/estimators.hpp"

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
    case RunKind::hog: break;
  }
  return "hog";
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
  std::vector<PlannedRun> plan;
  for (int round = 0; round < request.runs; ++round) {
    std::vector<PlannedRun> runs(1);
    for (int level = 0; level < injected_levels; ++level) {
      const int band = (round + level) % request.runs;
      const int place = (places[static_cast<std::size_t>(level)] + band * shift) % injected_levels;
      const double hits = hits_at(band * injected_levels + place, request.runs * injected_levels);
      runs.push_back(injected_run(calibration, target_of_level(level + 1, injected_levels), hits));
    }
    const int hogs = request.hogs * (round + 1) / request.runs - request.hogs * round / request.runs;
    for (int hog = 0; hog < hogs; ++hog) runs.push_back({.kind = RunKind::hog});
    shuffle(runs, random);
    plan.insert(plan.end(), runs.begin(), runs.end());
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
  const std::optional<double>& actual = run.truth(truth);
  if (!actual || result.verdict == Verdict::unknown) return std::nullopt;
  return Score{.accuracy = soft_accuracy(*actual, result.interference_percent),
               .difference_points = std::abs(*actual - result.interference_percent),
               .covered = *actual >= result.interval_percent.low && *actual <= result.interval_percent.high};
}

std::size_t fastest_of(const std::vector<ValidatedRun>& runs) {
  const auto shorter = [](const ValidatedRun& a, const ValidatedRun& b) {
    return a.run_time_seconds < b.run_time_seconds;
  };
  return static_cast<std::size_t>(std::min_element(runs.begin(), runs.end(), shorter) - runs.begin());
}

Validation summarise(std::vector<ValidatedRun> runs) {
  Validation validation;
  validation.fastest = fastest_of(runs);
  const double least = runs[validation.fastest].run_time_seconds;
  const std::optional<Background> least_background = runs[validation.fastest].background;
  std::vector<double> backgrounds;
  for (const ValidatedRun& run : runs) {
    if (run.background && run.plan.kind != RunKind::hog) backgrounds.push_back(run.background->percent());
  }
  if (!backgrounds.empty()) validation.background_percent = quantile(backgrounds, 0.5);

  const auto relative_time = [](const ValidatedRun& run) { return run.run_time_seconds / *run.computing_seconds; };
  double least_relative_time = std::numeric_limits<double>::infinity();
  for (const ValidatedRun& run : runs) {
    if (run.computing_seconds) least_relative_time = std::min(least_relative_time, relative_time(run));
  }
  for (ValidatedRun& run : runs) {
    const auto percent = [&run](double seconds) { return 100.0 * seconds / run.run_time_seconds; };
    const double beyond = run.run_time_seconds - least;
    run.truth_percent = {percent(beyond), percent(beyond - run.displacement_seconds)};
    if (least_background) {
      run.truth_percent[index_of(Truth::with_background)] =
          percent(beyond + least * least_background->percent() / 100.0);
    }
    if (run.computing_seconds) {
      run.truth_percent[index_of(Truth::at_equal_speed)] = 100.0 * (1.0 - least_relative_time / relative_time(run));
    }
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
      }
      validation.summaries.push_back(std::move(summary));
    }
  }
  return validation;
}

}  // namespace halcyon
