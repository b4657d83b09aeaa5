#include "report/series/repetition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr const char* nothing = "–";

std::string percent_words(double value) {
  const double size = std::abs(value);
  return decimal(value, size >= 9.95 ? 0 : size >= 0.095 || size == 0.0 ? 1 : 3) + " %";
}

std::string interval_words(const Interval& interval) {
  return fmt::format("{} to {}", seconds(interval.low), seconds(interval.high));
}

std::string ratio_words(const TimeRatio& ratio) {
  if (!ratio.interval) return fmt::format("{:.4f}", ratio.ratio);
  return fmt::format("{:.4f} ({:.4f} to {:.4f})", ratio.ratio, ratio.interval->low, ratio.interval->high);
}

// The mean that the series is to know.
const MeanTime& answer_of(const Repetition& series) { return series.summary.undisturbed; }

// What limits count.
std::string_view unit_of(const Repetition& series) { return series.other ? "pair" : "run"; }

// The half width at which a series stops.
double enough_percent(const Repetition& series) {
  const double within = series.precision.within_percent;
  return series.other ? versus_half_width_percent(within) : within;
}

// What the half width will not fall below, as far as it is known.
double floor_percent(const Repetition& series) {
  if (series.work) return series.work->rate ? series.work->rate->floor_percent().value_or(0.0) : 0.0;
  return series.other ? known_so_far(series.other->versus).floor_percent : answer_of(series).floor_percent();
}

// -- what stands first

// With fewer runs than the least, the interval may be narrow by chance.
bool has_least_runs(const Repetition& series, const MeanTime& mean) { return mean.runs >= series.rule.least_runs; }
bool is_narrow_enough(const Repetition& series, const MeanTime& mean) {
  return mean.interval_seconds && *mean.half_width_percent() <= series.precision.within_percent;
}

std::string mean_answer(const Repetition& series) {
  const MeanTime& mean = answer_of(series);
  if (mean.runs == 0) return filled("UNKNOWN  ", 9, "no run has an estimate of its undisturbed time");
  if (!mean.interval_seconds) {
    return filled("UNKNOWN  ", 9,
                  fmt::format("{} undisturbed in one run: an interval needs two", seconds(mean.mean_seconds)));
  }
  const bool are_too_few = is_narrow_enough(series, mean) && !has_least_runs(series, mean);
  const std::string figures = fmt::format(
      "undisturbed, a run takes {} ± {} ({}, {} confidence, {})", seconds(mean.mean_seconds),
      percent_words(*mean.half_width_percent()), interval_words(*mean.interval_seconds),
      confidence_words(series.precision.confidence),
      plural(mean.runs, "run") + (are_too_few ? fmt::format(", and {} are the least", series.rule.least_runs) : ""));
  if (series.summary.contradiction) {
    return filled("CONTRADICTION  ", 15, figures + ", but the means contradict each other");
  }
  return is_known(series) ? filled("KNOWN  ", 7, figures) : filled("NOT YET KNOWN  ", 15, figures);
}

// "A", "B", both, or nothing: whose means contradict each other.
std::string contradicting_programs(const Repetition& series) {
  const bool is_of_a = series.summary.contradiction.has_value();
  const bool is_of_b = series.other->summary.contradiction.has_value();
  return is_of_a && is_of_b ? "A and of B" : is_of_a ? "A" : is_of_b ? "B" : "";
}

std::string versus_answer(const Repetition& series) {
  const Versus& versus = series.other->versus;
  const TimeRatio& ratio = versus.answer();
  const std::string figures = fmt::format("B takes {} times as long as A, {} ({} confidence, {})", ratio_words(ratio),
                                          versus.is_by_undisturbed() ? "undisturbed" : "as measured",
                                          confidence_words(series.precision.confidence), plural(ratio.pairs, "pair"));
  switch (versus_verdict(series)) {
    case VersusVerdict::faster: return filled("FASTER  ", 8, figures);
    case VersusVerdict::slower: return filled("SLOWER  ", 8, figures);
    case VersusVerdict::same:
      return filled("SAME  ", 6, fmt::format("within {}: {}", percent_words(series.precision.within_percent), figures));
    case VersusVerdict::contradiction: {
      const std::string contradicting = contradicting_programs(series);
      return filled(
          "CONTRADICTION  ", 15,
          figures + (contradicting.empty() ? ", but undisturbed the other way round"
                                           : ", but the means of " + contradicting + " contradict each other"));
    }
    case VersusVerdict::unclear: break;
  }
  if (ratio.pairs < 2) return filled("UNCLEAR  ", 9, "a comparison needs two pairs of runs with an estimate");
  return filled("UNCLEAR  ", 9, figures);
}

// Whether the time from outside is the machine's, where it is not.
std::optional<std::string> attribution_words(const Versus& versus) {
  if (versus.attribution == Attribution::outside || !versus.interference.interval) return std::nullopt;
  const bool is_more = versus.interference.ratio > 1.0;
  const std::string what = fmt::format("by the time lost to interference alone, B is {} times as long as A",
                                       ratio_words(versus.interference));
  if (versus.attribution == Attribution::program) {
    return what + fmt::format(
                      ". {} has more of it pair by pair, though the machine meets both alike: it counts as the "
                      "program's own",
                      is_more ? "B" : "A");
  }
  return what + ". More pairs will tell whether that is the programs' or the machine's";
}

// The cost of a unit may be a few nanoseconds.
std::string cost_words(double cost) {
  return std::abs(cost) < 1e-6 ? fmt::format("{:.3g} ns", 1e9 * cost) : seconds(cost);
}

std::string work_answer(const Repetition& series) {
  const WorkSeries& work = *series.work;
  if (!work.rate) return filled("UNKNOWN  ", 9, "a line needs three runs with an estimate, of two amounts of work");
  const EstimatedCost& unit = work.rate->unit;
  return filled("COST  ", 6,
                fmt::format("fixed {} ({}), and {} ({}) for each unit of {} ({} confidence, {})",
                            seconds(work.rate->fixed.seconds), interval_words(interval_of(work.rate->fixed)),
                            cost_words(unit.seconds),
                            cost_words(interval_of(unit).low) + " to " + cost_words(interval_of(unit).high), work.name,
                            confidence_words(series.precision.confidence), plural(work.rate->runs, "run")));
}

// -- means side by side

// At least one space between columns, however wide a figure is.
constexpr const char* row_of_means = "  {:<25} {:>4} {:>9} {:>22} {:>7} {:>6}\n";

std::string mean_row(std::string_view what, const MeanTime& mean) {
  const std::string needed = mean.runs_needed ? fmt::format("{}", *mean.runs_needed) : nothing;
  return fmt::format(row_of_means, what, mean.runs, mean.runs > 0 ? seconds(mean.mean_seconds) : nothing,
                     mean.interval_seconds ? interval_words(*mean.interval_seconds) : nothing,
                     mean.half_width_percent() ? percent_words(*mean.half_width_percent()) : nothing, needed);
}

std::string means_table(const SeriesSummary& summary, const Precision& precision) {
  std::string text = fmt::format(row_of_means, "mean of", "runs", "time",
                                 confidence_words(precision.confidence) + " interval", "±", "need");
  text += mean_row("all, as measured", summary.measured);
  text += mean_row("green or yellow, measured", summary.quiet);
  return text + mean_row("undisturbed times", summary.undisturbed);
}

// What the last column means, and why something is unknown.
std::string legend_of_means(const Repetition& series) {
  const std::string within = percent_words(series.precision.within_percent);
  std::string text = filled("  ", 2, fmt::format("need: total number of runs to know this mean to ±{}", within));
  std::vector<const MeanTime*> means;
  for (const SeriesSummary* summary : {&series.summary, series.other ? &series.other->summary : nullptr}) {
    if (summary != nullptr) means.insert(means.end(), {&summary->measured, &summary->quiet, &summary->undisturbed});
  }
  const auto tell_if_any = [&](auto&& is_so, const std::string& words) {
    const bool is_any = std::any_of(means.begin(), means.end(), [&](const MeanTime* mean) { return is_so(*mean); });
    if (is_any) text += filled(fmt::format("  {}: ", nothing), 5, words);
  };
  const auto has_floor_above = [&](const MeanTime& mean) {
    return mean.floor_percent() >= series.precision.within_percent;
  };
  tell_if_any([](const MeanTime& mean) { return mean.runs == 0; }, "no run counts for this mean");
  tell_if_any([](const MeanTime& mean) { return mean.runs == 1; }, "one run has no interval");
  tell_if_any([&](const MeanTime& mean) { return mean.runs > 1 && has_floor_above(mean); },
              "no number of runs is enough: the floor, an error that all runs may share, is not below ±" + within);
  tell_if_any([&](const MeanTime& mean) { return mean.runs > 1 && !mean.runs_needed && !has_floor_above(mean); },
              "more than a million runs");
  return text;
}

std::string contradiction_words(const Contradiction& contradiction) {
  const std::string by = percent_words(std::abs(contradiction.difference_percent));
  switch (contradiction.code) {
    case ContradictionCode::above_quiet:
      return fmt::format(
          "the undisturbed mean is {} above the mean of the green and yellow runs, which is impossible: do not use it",
          by);
    case ContradictionCode::above_measured:
      return fmt::format("the undisturbed mean is {} above the mean of all runs, which is impossible: do not use it",
                         by);
    case ContradictionCode::disturbed_runs_higher:
      return fmt::format(
          "the undisturbed times of red runs are {} above those of the others: some of their interference "
          "was not seen. The mean of the green and yellow runs is more accurate",
          by);
    case ContradictionCode::disturbed_runs_lower:
      return fmt::format(
          "the undisturbed times of red runs are {} below those of the others: too much was counted as "
          "interference. The mean of the green and yellow runs is more accurate",
          by);
  }
  return "";
}

std::string caveat_words(const Caveat& caveat) {
  switch (caveat.code) {
    case CaveatCode::correlated:
      return fmt::format(
          "each run is similar to the one before it (correlation {:.2f}), so the interval was made wider",
          caveat.value);
    case CaveatCode::drift:
      return fmt::format(
          "the undisturbed times change by {:+.1f} % along the series: the mean is that of these runs, and "
          "says little about other days",
          caveat.value);
    case CaveatCode::few_runs: return "with so few runs, drift of the machine may go unseen";
    case CaveatCode::all_disturbed: return "no run was green or yellow: the mean depends only on estimates";
  }
  return "";
}

// What else is known of the runs of one program. `whose` is before each label.
std::string facts_about(const SeriesSummary& summary, std::string_view whose) {
  const auto line = [whose](std::string_view label, std::string content) {
    return wrapped(fmt::format("{}{}", whose, label), std::move(content));
  };
  std::string text =
      line("hosts", fmt::format("{} seen; other hosts may give other times", plural(summary.hosts, "host")));
  if (summary.warm_up_runs > 0) {
    text += line("warm-up", fmt::format("the first {} left out", plural(summary.warm_up_runs, "run")));
  }
  if (summary.contradiction) text += line("CONTRADICTION", contradiction_words(*summary.contradiction));
  for (const Caveat& caveat : summary.caveats) text += line("note", caveat_words(caveat));
  return text;
}

std::string_view work_caveat_words(WorkCaveat code) {
  switch (code) {
    case WorkCaveat::narrow_range: return "the amounts of work are too similar to determine the fixed cost";
    case WorkCaveat::not_linear: return "time does not grow linearly with the work: a curve fits better than the line";
    case WorkCaveat::correlated: return "neighbouring runs deviate from the line in the same way";
    case WorkCaveat::negative_fixed_cost: return "the fixed cost is below 0, so time does not follow a line";
  }
  return "";
}

std::string stopped_words(const Repetition& series) {
  const std::string width = fmt::format("±{}", percent_words(enough_percent(series)));
  switch (*series.outlook.stopped_because) {
    case StoppedBecause::width:
      return series.other ? "the interval is narrow enough (" + width + ") for a clear answer"
                          : "the interval is as narrow as asked for (" + width + ")";
    case StoppedBecause::time: return "the time is up (--for)";
    case StoppedBecause::max_runs:
      return series.rule.is_exact ? plural(*series.rule.most_runs, unit_of(series)) + " were asked for (--runs)"
                                  : fmt::format("the maximum number of {}s is reached (--max-runs)", unit_of(series));
    case StoppedBecause::floor:
      return fmt::format("{} cannot be reached: the floor is {}, since the estimates of all runs {}may share an error",
                         width, percent_words(floor_percent(series)), series.other ? "of a program " : "");
    case StoppedBecause::interrupted: return "interrupted; continue with --resume " + series.directory;
  }
  return "";
}

std::string to_decide_words(const Repetition& series) {
  const TimeRatio& ratio = series.other->versus.answer();
  if (ratio.pairs_needed) return plural(*ratio.pairs_needed, "pair") + " in all";
  return fmt::format("more pairs are not enough: the floor is {}. Quieter runs lower it",
                     percent_words(ratio.floor_percent()));
}

// What more runs cannot improve, where it is most of the interval.
std::optional<std::string> floor_words(const Repetition& series) {
  constexpr double share_that_matters = 0.5;
  if (series.work || series.outlook.stopped_because == StoppedBecause::floor) return std::nullopt;
  const std::optional<double> half_width =
      series.other ? series.other->versus.answer().half_width_percent() : answer_of(series).half_width_percent();
  const double floor = floor_percent(series);
  if (!half_width || floor <= share_that_matters * *half_width) return std::nullopt;
  return fmt::format(
      "±{} of the ±{} is an error that the estimates of all runs {}may share. More runs do not help; quieter "
      "runs do",
      percent_words(floor), percent_words(*half_width), series.other ? "of a program " : "");
}

// -- every run

std::string_view use_words(const std::optional<Unused>& unused) {
  return unused ? name_of(*unused) : std::string_view("used");
}

std::string runs_table(const Repetition& series) {
  // An amount of work may have many digits. It is in the place of the interference.
  const std::size_t widest =
      series.work ? std::max(series.work->name.size(), std::to_string(series.work->range.to).size()) : 0;
  const std::size_t width = std::max<std::size_t>(7, widest);
  std::string text = fmt::format("\n  {:<9} {:>10} {:>12} {:>23} {:>{}}  verdict\n", "run", "measured", "undisturbed",
                                 "90 % interval", series.work ? series.work->name : "lost", width);
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const ListedRun& run = series.runs[i];
    const std::string name = briefly(run.name, 20);
    if (run.run.end == RunEnd::failed) {
      text += fmt::format("  {:<9} failed\n", name);
      continue;
    }
    const auto& undisturbed = run.run.undisturbed;
    text += fmt::format("  {:<9} {:>10} {:>12} {:>23} {:>{}}  {}{}\n", name, seconds(run.run.measured_seconds),
                        undisturbed ? seconds(undisturbed->seconds) : nothing,
                        undisturbed ? interval_words(undisturbed->interval_seconds) : nothing,
                        series.work ? fmt::format("{:.0f}", run.work) : percent_words(run.interference_percent), width,
                        name_of(run.run.verdict), unused[i] ? fmt::format(", {}", use_words(unused[i])) : "");
  }
  return text;
}

}  // namespace

std::vector<RepeatedRun> runs_of(const Repetition& series, Program program) {
  std::vector<RepeatedRun> runs;
  for (const ListedRun& run : series.runs) {
    if (run.program == program) runs.push_back(run.run);
  }
  return runs;
}

std::vector<std::optional<Unused>> unused_of(const Repetition& series) {
  std::vector<std::optional<Unused>> result;
  std::size_t of_a = 0;
  std::size_t of_b = 0;
  for (const ListedRun& run : series.runs) {
    const bool is_b = run.program == Program::b;
    const auto& from = is_b ? series.other->summary.unused : series.summary.unused;
    result.push_back(from[is_b ? of_b++ : of_a++]);
  }
  return result;
}

std::vector<RunPair> pairs_of(const Repetition& series) {
  const std::vector<RepeatedRun> a = runs_of(series, Program::a);
  const std::vector<RepeatedRun> b = runs_of(series, Program::b);
  const auto is_warm_up = [](const SeriesSummary& summary, std::size_t run) {
    return summary.unused[run] == Unused::warm_up;
  };
  std::vector<RunPair> pairs;
  for (std::size_t pair = 0; pair < std::min(a.size(), b.size()); ++pair) {
    pairs.push_back({.a = a[pair],
                     .b = b[pair],
                     .is_warm_up = is_warm_up(series.summary, pair) || is_warm_up(series.other->summary, pair)});
  }
  return pairs;
}

bool is_known(const Repetition& series) {
  if (series.work) return series.work->rate.has_value();
  if (series.other) {
    const VersusVerdict verdict = versus_verdict(series);
    return verdict != VersusVerdict::unclear && verdict != VersusVerdict::contradiction;
  }
  const MeanTime& mean = answer_of(series);
  return !series.summary.contradiction && is_narrow_enough(series, mean) && has_least_runs(series, mean);
}

VersusVerdict versus_verdict(const Repetition& series) {
  return contradicting_programs(series).empty() ? series.other->versus.verdict : VersusVerdict::contradiction;
}

std::string repetition_text(const Repetition& series) {
  std::string text = series.work ? work_answer(series) : series.other ? versus_answer(series) : mean_answer(series);
  text += "\n";
  text += wrapped(series.other ? "A" : "program", command_words(series.command));
  if (series.other && !series.other->is_against_itself) text += wrapped("B", command_words(series.other->command));
  if (series.outlook.stopped_because) text += wrapped("stopped because", stopped_words(series));
  if (series.other) {
    const OtherProgram& other = *series.other;
    const Versus& versus = other.versus;
    if (versus.measured.pairs > 1) {
      const TimeRatio& rest = versus.is_by_undisturbed() ? versus.measured : versus.undisturbed;
      text += wrapped(versus.is_by_undisturbed() ? "as measured" : "undisturbed", ratio_words(rest) + " times as long");
    }
    if (const std::optional<std::string> whose = attribution_words(versus)) text += wrapped("from outside", *whose);
    if (versus.undisturbed.welch) {
      text += wrapped("unpaired", fmt::format("{:.4f} to {:.4f} (Welch)", versus.undisturbed.welch->low,
                                              versus.undisturbed.welch->high));
    }
    if (versus.pairs_left_out > 0) {
      text += wrapped("left out", plural(versus.pairs_left_out, "pair") +
                                      ": one of the runs failed, did other work, was warm-up or has no estimate");
    }
    if (versus_verdict(series) == VersusVerdict::unclear && versus.answer().interval) {
      text += wrapped("to decide", to_decide_words(series));
    }
    if (other.false_alarm_share) {
      text +=
          wrapped("false alarms", fmt::format("as many pairs of A against itself are called faster or slower in {} of "
                                              "cases",
                                              percent_words(100.0 * *other.false_alarm_share)));
    }
  }
  if (series.work && series.work->rate) {
    const WorkRate& rate = *series.work->rate;
    if (rate.rate_interval) {
      const Interval& interval = *rate.rate_interval;
      const std::string range = std::isinf(interval.high)
                                    ? fmt::format("at least {:.4g}", interval.low)
                                    : fmt::format("{:.4g} to {:.4g}", interval.low, interval.high);
      text += wrapped("units per second", fmt::format("{:.4g} ({})", *rate.units_per_second, range));
    }
    for (const WorkCaveat code : rate.caveats) text += wrapped("note", std::string(work_caveat_words(code)));
  }
  if (const std::optional<std::string> floor = floor_words(series)) text += wrapped("floor", *floor);
  text += facts_about(series.summary, series.other ? "A: " : "");
  if (series.other) text += facts_about(series.other->summary, "B: ");
  if (!series.work) {
    text += "\n" + means_table(series.summary, series.precision);
    if (series.other) {
      text += "\n  B\n" + means_table(series.other->summary, series.precision);
    }
    text += legend_of_means(series);
  }
  return text + runs_table(series);
}

std::string next_run_words(const Repetition& series) {
  const std::size_t made = series.runs.size() / (series.other ? 2 : 1);
  if (!series.rule.is_exact) return fmt::format("run {}", series.runs.size() + 1);
  return fmt::format("{} {} of {}", unit_of(series), made + 1, made + series.outlook.most_further.value_or(1));
}

std::string outlook_words(const Repetition& series) {
  const Outlook& outlook = series.outlook;
  const auto more = [&series](std::size_t runs) { return plural(runs, unit_of(series)) + " more"; };
  std::optional<double> width = answer_of(series).half_width_percent();
  if (series.other) width = series.other->versus.answer().half_width_percent();
  if (series.work) width = series.work->rate ? series.work->rate->half_width_percent() : std::nullopt;
  if (series.rule.is_exact) return width ? fmt::format("±{} so far", percent_words(*width)) : "";
  const std::string so_far = width ? fmt::format("±{} so far, ", percent_words(*width)) : "";
  const std::string at_most = outlook.most_further ? ", at most " + more(*outlook.most_further) : "";
  if (!outlook.is_reachable && outlook.reachable_percent) {
    const std::string enough = percent_words(enough_percent(series));
    if (floor_percent(series) >= enough_percent(series)) {
      return so_far +
             fmt::format("±{} is not reachable so far: the floor is ±{}", enough,
                         percent_words(floor_percent(series))) +
             at_most;
    }
    return so_far +
           fmt::format("±{} cannot be reached within the limits; expect ±{} at their end", enough,
                       percent_words(*outlook.reachable_percent)) +
           at_most;
  }
  if (!outlook.expected_further) {
    return (so_far.empty() ? "the first runs show how many are needed"
                           : so_far + "it is not known how many more are needed") +
           at_most;
  }
  if (outlook.expected_further == outlook.most_further) return so_far + "at most " + more(*outlook.most_further);
  return so_far + "about " + more(*outlook.expected_further) +
         (outlook.most_further ? fmt::format(", at most {}", *outlook.most_further) : "");
}

}  // namespace halcyon
