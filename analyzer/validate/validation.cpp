#include "analyzer/validate/validation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/judge/verdict.hpp"
#include "analyzer/statistics/quantile.hpp"

namespace halcyon {

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

Validation summarise(std::vector<ValidatedRun> runs) {
  Validation validation;
  validation.fastest = fastest_of(runs);
  std::vector<double> backgrounds;
  for (const ValidatedRun& run : runs) {
    if (run.background && run.plan.kind != RunKind::disturbed) backgrounds.push_back(run.background->percent());
  }
  if (!backgrounds.empty()) validation.background_percent = quantile(backgrounds, 0.5);
  const SeriesTruth series = set_truths(runs);
  validation.noise = series.noise;
  validation.paired_at_equal_speed = series.paired_at_equal_speed;
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
