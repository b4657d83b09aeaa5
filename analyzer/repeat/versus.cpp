#include "analyzer/repeat/versus.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/repeat/dependence.hpp"
#include "analyzer/repeat/narrowing.hpp"
#include "analyzer/repeat/random_effects.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

void add_logarithm(Estimates& logarithms, const UncertainTime& time) {
  logarithms.add(std::log(time.seconds), time.error_below / time.seconds, time.error_above / time.seconds);
}

SharedError shared_error_of(const Estimates& times) {
  return halcyon::shared_error_of(times, random_effects_mean(times.values, times.errors).own_weights);
}

struct Logarithmic {
  Estimates a;
  Estimates b;
};

// Of pairs that count.
struct PairedTimes {
  Logarithmic undisturbed;
  Logarithmic measured;
  Logarithmic unexplained;  // as measured, without what the kernel saw others take
};

double half_width_percent_of(double log_below, double log_above) {
  return 100.0 * std::sinh(0.5 * (log_below + log_above));
}

// By pairs.
TimeRatio paired_ratio(const Logarithmic& times, const Precision& precision) {
  TimeRatio ratio{.pairs = times.a.values.size(), .confidence = precision.confidence};
  if (ratio.pairs == 0) return ratio;
  std::vector<double> values;
  std::vector<double> errors;
  for (std::size_t pair = 0; pair < ratio.pairs; ++pair) {
    values.push_back(times.b.values[pair] - times.a.values[pair]);
    errors.push_back(std::hypot(times.a.errors[pair], times.b.errors[pair]));
  }
  const WeightedMean mean = random_effects_mean(values, errors);
  ratio.ratio = std::exp(mean.mean);
  const SharedError of_a = shared_error_of(times.a);
  const SharedError of_b = shared_error_of(times.b);
  ratio.log_floor_below = precision.shared_error * std::max({0.0, of_a.above - of_b.above, of_b.below - of_a.below});
  ratio.log_floor_above = precision.shared_error * std::max({0.0, of_b.above - of_a.above, of_a.below - of_b.below});
  if (ratio.pairs < 2) return ratio;
  const double quantile = student_quantile_of_interval(precision.confidence, mean.freedom);
  ratio.log_random =
      quantile * mean.error * std::sqrt(dependence_of(mean.standardized, precision.confidence).variance_factor);
  ratio.interval = Interval{std::exp(mean.mean - std::hypot(ratio.log_random, ratio.log_floor_below)),
                            std::exp(mean.mean + std::hypot(ratio.log_random, ratio.log_floor_above))};
  return ratio;
}

// B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved",
// Biometrika 34, 1947.
Interval welch_interval(const Logarithmic& times, double confidence) {
  const WeightedMean a = random_effects_mean(times.a.values, times.a.errors);
  const WeightedMean b = random_effects_mean(times.b.values, times.b.errors);
  const double difference = b.mean - a.mean;
  const double error = std::hypot(a.error, b.error);
  if (error <= 0.0) return {std::exp(difference), std::exp(difference)};
  const auto term_of_freedom = [&](const WeightedMean& mean) { return std::pow(mean.error / error, 4) / mean.freedom; };
  const double freedom = 1.0 / (term_of_freedom(a) + term_of_freedom(b));
  const double half_width = student_quantile_of_interval(confidence, freedom) * error;
  return {std::exp(difference - half_width), std::exp(difference + half_width)};
}

TimeRatio ratio_of(const Logarithmic& times, const Precision& precision) {
  TimeRatio ratio = paired_ratio(times, precision);
  if (ratio.pairs < 2) return ratio;
  ratio.welch = welch_interval(times, precision.confidence);
  const double half_width_percent = versus_half_width_percent(precision.within_percent);
  if (ratio.floor_percent() >= half_width_percent) return ratio;
  ratio.pairs_needed =
      least_runs_for([&](std::size_t pairs) { return *ratio.half_width_percent_after(pairs) <= half_width_percent; });
  return ratio;
}

VersusVerdict verdict_of_ratio(const TimeRatio& ratio, double within_percent) {
  if (!ratio.interval) return VersusVerdict::unclear;
  const double within = within_percent / 100.0;
  if (ratio.interval->low >= 1.0 - within && ratio.interval->high <= 1.0 + within) return VersusVerdict::same;
  if (ratio.interval->low > 1.0) return VersusVerdict::slower;
  if (ratio.interval->high < 1.0) return VersusVerdict::faster;
  return VersusVerdict::unclear;
}

// What the run lost is less than the time that is taken to come from outside.
UncertainTime unexplained_time(const RepeatedRun& run) {
  return {std::max(run.measured_seconds - run.lost_to_cpu_waits_seconds,
                   std::min(run.measured_seconds, run.undisturbed->seconds))};
}

PairedTimes paired_times(std::span<const RunPair> pairs) {
  PairedTimes times;
  for (const RunPair& pair : pairs) {
    if (!pair_counts(pair)) continue;
    add_logarithm(times.undisturbed.a, pair.a.undisturbed->uncertain());
    add_logarithm(times.undisturbed.b, pair.b.undisturbed->uncertain());
    add_logarithm(times.measured.a, {pair.a.measured_seconds});
    add_logarithm(times.measured.b, {pair.b.measured_seconds});
    add_logarithm(times.unexplained.a, unexplained_time(pair.a));
    add_logarithm(times.unexplained.b, unexplained_time(pair.b));
  }
  return times;
}

// The estimates err by less than what the machine adds from run to run, so that the scatter of the pairs is enough.
Logarithmic beyond(const Logarithmic& undisturbed, const Logarithmic& times) {
  const auto of_program = [](const Estimates& longer, const Estimates& shorter) {
    Estimates interference;
    for (std::size_t pair = 0; pair < longer.values.size(); ++pair) {
      interference.add(longer.values[pair] - shorter.values[pair], 0.0, 0.0);
    }
    return interference;
  };
  return {of_program(times.a, undisturbed.a), of_program(times.b, undisturbed.b)};
}

bool holds_one(const TimeRatio& ratio) {
  return !ratio.interval || (ratio.interval->low <= 1.0 && ratio.interval->high >= 1.0);
}

// What the kernel saw others take is no program's, whichever of both it met more often. But what certainly follows a
// program is its own, even waits for a CPU: other processes of its own may have it.
Attribution attribution_of(const PairedTimes& times) {
  constexpr double nearly_alike = 0.8;
  constexpr double certainly_not_alike = 0.999;
  const auto are_alike = [&times](const Logarithmic& longer, double confidence) {
    return holds_one(paired_ratio(beyond(times.undisturbed, longer), {.confidence = confidence}));
  };
  if (!are_alike(times.measured, certainly_not_alike)) return Attribution::program;
  return are_alike(times.unexplained, nearly_alike) ? Attribution::outside : Attribution::open;
}

VersusVerdict verdict_of(const Versus& versus, double within_percent) {
  const VersusVerdict undisturbed = verdict_of_ratio(versus.undisturbed, within_percent);
  const VersusVerdict measured = verdict_of_ratio(versus.measured, within_percent);
  const auto are_opposite = [](VersusVerdict one, VersusVerdict other) {
    return one == VersusVerdict::faster && other == VersusVerdict::slower;
  };
  switch (versus.attribution) {
    case Attribution::outside: return undisturbed;
    case Attribution::program:
      return are_opposite(undisturbed, measured) || are_opposite(measured, undisturbed) ? VersusVerdict::contradiction
                                                                                        : measured;
    case Attribution::open: break;
  }
  const bool is_slower = undisturbed == VersusVerdict::slower && versus.measured.ratio > 1.0;
  const bool is_faster = undisturbed == VersusVerdict::faster && versus.measured.ratio < 1.0;
  const bool is_same = undisturbed == VersusVerdict::same && measured == VersusVerdict::same;
  return is_slower || is_faster || is_same ? undisturbed : VersusVerdict::unclear;
}

Versus compared(const PairedTimes& times, const Precision& precision) {
  Versus versus{.undisturbed = ratio_of(times.undisturbed, precision),
                .measured = ratio_of(times.measured, precision),
                .interference = paired_ratio(beyond(times.undisturbed, times.measured), precision)};
  if (versus.undisturbed.pairs > 1) versus.attribution = attribution_of(times);
  versus.verdict = verdict_of(versus, precision.within_percent);
  return versus;
}

void swap_programs(Logarithmic& times, std::size_t pair) {
  for (const auto of_runs :
       {&Estimates::values, &Estimates::errors, &Estimates::errors_below, &Estimates::errors_above}) {
    std::swap((times.a.*of_runs)[pair], (times.b.*of_runs)[pair]);
  }
}

}  // namespace

bool pair_counts(const RunPair& pair) {
  return !pair.is_warm_up && pair.a.end == RunEnd::finished && pair.b.end == RunEnd::finished && pair.a.undisturbed &&
         pair.b.undisturbed;
}

std::optional<double> TimeRatio::half_width_percent() const { return half_width_percent_after(pairs); }

std::optional<double> TimeRatio::half_width_percent_after(std::size_t all_pairs) const {
  if (!interval || all_pairs < 2) return std::nullopt;
  const double random = log_random * narrowing(pairs, all_pairs, confidence);
  return half_width_percent_of(std::hypot(random, log_floor_below), std::hypot(random, log_floor_above));
}

double TimeRatio::floor_percent() const { return half_width_percent_of(log_floor_below, log_floor_above); }

double versus_half_width_percent(double within_percent) {
  return half_width_percent_of(0.0, std::log1p(within_percent / 100.0));
}

Versus compare_pairs(std::span<const RunPair> pairs, const Precision& precision) {
  Versus versus = compared(paired_times(pairs), precision);
  versus.pairs_left_out = pairs.size() - versus.undisturbed.pairs;
  return versus;
}

KnownSoFar known_so_far(const Versus& versus) {
  const TimeRatio& ratio = versus.answer();
  // The floor is the difference of two medians. It is known once the pairs scatter less than that.
  const double floor_percent = ratio.floor_percent();
  const bool is_floor_known = half_width_percent_of(ratio.log_random, ratio.log_random) <= floor_percent;
  return {ratio.pairs, ratio.half_width_percent(), is_floor_known ? floor_percent : 0.0, ratio.pairs_needed,
          [ratio](std::size_t all_pairs) { return ratio.half_width_percent_after(all_pairs); }};
}

std::optional<double> false_alarm_share(std::span<const RunPair> pairs, const Precision& precision,
                                        std::size_t repetitions, std::uint64_t seed) {
  const PairedTimes times = paired_times(pairs);
  const std::size_t pairs_that_count = times.measured.a.values.size();
  if (pairs_that_count < default_least_runs || repetitions == 0) return std::nullopt;
  std::mt19937_64 random(seed);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < repetitions; ++i) {
    PairedTimes drawn = times;
    for (std::size_t pair = 0; pair < pairs_that_count; ++pair) {
      if (random() % 2 == 0) continue;
      swap_programs(drawn.undisturbed, pair);
      swap_programs(drawn.measured, pair);
      swap_programs(drawn.unexplained, pair);
    }
    const VersusVerdict verdict = compared(drawn, precision).verdict;
    if (verdict != VersusVerdict::same && verdict != VersusVerdict::unclear) ++alarms;
  }
  return static_cast<double>(alarms) / static_cast<double>(repetitions);
}

}  // namespace halcyon
