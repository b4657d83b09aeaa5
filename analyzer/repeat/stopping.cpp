#include "analyzer/repeat/stopping.hpp"

#include <algorithm>

namespace halcyon {
namespace {

// At least 1.4 times as many.
std::size_t look_after(std::size_t look) { return (look * 7 + 4) / 5; }

bool is_below(const std::optional<double>& percent, double within_percent) {
  return percent && *percent <= within_percent;
}

std::size_t difference_or_zero(std::size_t more, std::size_t less) { return more > less ? more - less : 0; }

// How many more runs the limits leave room for, with so much warm-up among them.
std::optional<std::size_t> further_runs(std::size_t runs, const StoppingRule& rule, const SeriesProgress& progress,
                                        std::size_t warm_up_left) {
  std::optional<std::size_t> further;
  if (rule.most_runs) further = difference_or_zero(*rule.most_runs, runs + progress.without_estimate) + warm_up_left;
  if (rule.most_seconds && progress.seconds_per_run > 0.0) {
    const double left = std::max(0.0, *rule.most_seconds - progress.elapsed_seconds);
    const auto in_time = static_cast<std::size_t>(left / progress.seconds_per_run);
    further = further ? std::min(*further, in_time) : in_time;
  }
  return further;
}

std::optional<StoppedBecause> limit_reached(std::size_t runs, const StoppingRule& rule,
                                            const SeriesProgress& progress) {
  if (rule.most_runs && runs + progress.without_estimate >= *rule.most_runs) return StoppedBecause::max_runs;
  if (rule.most_seconds && progress.elapsed_seconds + progress.seconds_per_run > *rule.most_seconds) {
    return StoppedBecause::time;
  }
  return std::nullopt;
}

std::optional<StoppedBecause> why_stopped(const KnownSoFar& known, const StoppingRule& rule,
                                          const SeriesProgress& progress) {
  const std::optional<StoppedBecause> limit = limit_reached(known.runs, rule, progress);
  const bool is_at_look = is_look(known.runs, rule.least_runs);
  const bool is_by_width = !rule.is_exact && (limit || is_at_look);
  if (is_by_width && is_below(known.half_width_percent, rule.within_percent)) return StoppedBecause::width;
  if (progress.is_interrupted) return StoppedBecause::interrupted;
  if (limit) return limit;
  const bool is_floor_known = is_at_look && known.runs >= 2 * rule.least_runs;
  return is_floor_known && known.floor_percent >= rule.within_percent ? std::optional(StoppedBecause::floor)
                                                                      : std::nullopt;
}

}  // namespace

bool is_look(std::size_t runs, std::size_t least_runs) { return runs > 0 && next_look(runs, least_runs) == runs; }

std::size_t next_look(std::size_t runs, std::size_t least_runs) {
  std::size_t look = std::max<std::size_t>(2, least_runs);
  while (look < runs) look = look_after(look);
  return look;
}

KnownSoFar known_so_far(const MeanTime& mean) {
  return {mean.runs, mean.half_width_percent(), mean.runs > 0 ? mean.floor_percent() : 0.0, mean.runs_needed,
          [mean](std::size_t all_runs) { return mean.half_width_percent_after(all_runs); }};
}

Outlook outlook_of(const KnownSoFar& known, const StoppingRule& rule, const SeriesProgress& progress) {
  Outlook outlook;
  outlook.stopped_because = why_stopped(known, rule, progress);
  const std::optional<std::size_t> further = further_runs(known.runs, rule, progress, progress.warm_up_left);
  if (further) outlook.possible_runs = known.runs + difference_or_zero(*further, progress.warm_up_left);
  outlook.most_further = further_runs(known.runs, rule, progress, progress.most_warm_up_left);
  if (!known.half_width_percent) return outlook;
  const bool is_reached =
      outlook.stopped_because == StoppedBecause::width ||
      (rule.is_exact && outlook.stopped_because && is_below(known.half_width_percent, rule.within_percent));
  if (is_reached) {
    outlook.expected_runs = known.runs;
  } else if (known.runs_needed) {  // at the next look at the earliest
    outlook.expected_runs = next_look(std::max(*known.runs_needed, known.runs + 1), rule.least_runs);
    outlook.expected_further = *outlook.expected_runs - known.runs + progress.warm_up_left;
    // A limit ends it before, and the width is checked then.
    if (outlook.most_further) outlook.expected_further = std::min(*outlook.expected_further, *outlook.most_further);
  }
  outlook.reachable_percent =
      outlook.possible_runs ? known.half_width_percent_after(*outlook.possible_runs) : known.floor_percent;
  outlook.is_reachable = is_reached || (known.floor_percent < rule.within_percent &&
                                        is_below(outlook.reachable_percent, rule.within_percent));
  return outlook;
}

}  // namespace halcyon
