#include "analyzer/validate/plan.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <random>
#include <utility>

namespace halcyon {
namespace {

// With more, nearly every call is delayed alike. That is continuous interference, which is another question.
constexpr double most_probability = 0.5;
// With fewer, chance decides how much is injected.
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
  // Hits do not grow with the level in any band, and no two bands have the same order.
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

}  // namespace halcyon
