#include "report/series/repetition_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr const char* none = "none";

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

std::string confidence_of(const Repetition& series) {
  return confidence_words(series.precision.confidence) + " confidence" +
         (series.others.size() > 1 ? " of all together" : "");
}

// The mean that the series is to know.
const MeanTime& answer_mean(const Repetition& series) { return series.summary.undisturbed; }

// What limits count.
std::string_view unit_of(const Repetition& series) {
  return series.others.empty() ? "run" : series.others.size() == 1 ? "pair" : "round";
}

// The half width at which a series stops.
double enough_percent(const Repetition& series) {
  const double within = series.precision.within_percent;
  return series.others.empty() ? within : versus_half_width_percent(within);
}

// The half width now, and what it will not fall below, as far as they are known.
KnownSoFar known_so_far_of(const Repetition& series) {
  if (!series.others.empty()) return known_so_far_of_comparisons(series);
  if (!series.work) return known_so_far(answer_mean(series));
  return series.work->rate ? known_so_far(*series.work->rate, series.precision.within_percent) : KnownSoFar{};
}

// "A", "A and C", "A, B and C".
std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " and ") + words[i];
  }
  return text;
}

// -- what stands first

SeriesAnswer mean_answer(const Repetition& series) {
  const MeanTime& mean = answer_mean(series);
  if (mean.runs == 0) return {"UNKNOWN", "no run has an estimate of its undisturbed time", ""};
  if (!mean.interval_seconds) {
    return {"UNKNOWN", fmt::format("{} undisturbed in one run: an interval needs two", seconds(mean.mean_seconds)), ""};
  }
  const bool is_narrow = *mean.half_width_percent() <= series.precision.within_percent;
  // With fewer runs, the interval may be narrow by chance.
  const bool are_too_few = is_narrow && mean.runs < series.rule.least_runs;
  const std::string figures = fmt::format(
      "undisturbed, a run takes {} ± {} ({}, {}, {})", seconds(mean.mean_seconds),
      percent_words(*mean.half_width_percent()), interval_words(*mean.interval_seconds), confidence_of(series),
      plural(mean.runs, "run") + (are_too_few ? fmt::format(", and {} are the least", series.rule.least_runs) : ""));
  if (series.summary.contradiction) {
    return {"CONTRADICTION", figures + ", but the means contradict each other", "red"};
  }
  return is_known(series) ? SeriesAnswer{"KNOWN", figures, "green"} : SeriesAnswer{"NOT YET KNOWN", figures, "yellow"};
}

// "A", "B", both, or nothing: whose means contradict each other.
std::string contradicting_programs(const Repetition& series, Program other) {
  std::vector<std::string> letters;
  for (const Program program : {first_program, other}) {
    if (summary_of(series, program).contradiction) letters.push_back(letter_of(program));
  }
  return letters.size() > 1 ? letters.front() + " and of " + letters.back() : list_of(letters);
}

// Class of its colour: a word that is told apart from A is neither good nor bad.
std::string_view colour_of(VersusVerdict verdict) {
  switch (verdict) {
    case VersusVerdict::faster:
    case VersusVerdict::same: return "green";
    case VersusVerdict::slower:
    case VersusVerdict::contradiction: return "red";
    case VersusVerdict::unclear: break;
  }
  return "";
}

std::string in_capitals(std::string_view word) {
  std::string capitals(word);
  for (char& letter : capitals)
    letter = static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
  return capitals;
}

std::string basis_words(const Versus& versus) { return versus.is_by_undisturbed() ? "undisturbed" : "as measured"; }

SeriesAnswer versus_answer(const Repetition& series) {
  constexpr Program b = 1;
  const Versus& versus = series.others.front().versus;
  const TimeRatio& ratio = versus.answer();
  const VersusVerdict verdict = versus_verdict(series, b);
  SeriesAnswer answer{in_capitals(name_of(verdict)),
                      fmt::format("B takes {} times as long as A, {} ({}, {})", ratio_words(ratio), basis_words(versus),
                                  confidence_of(series), plural(ratio.pairs, "pair")),
                      colour_of(verdict)};
  if (verdict == VersusVerdict::same) {
    answer.sentence =
        fmt::format("within {}: {}", percent_words(series.precision.within_percent), std::move(answer.sentence));
  }
  if (verdict == VersusVerdict::contradiction) {
    const std::string contradicting = contradicting_programs(series, b);
    answer.sentence += contradicting.empty() ? ", but undisturbed the other way round"
                                             : ", but the means of " + contradicting + " contradict each other";
  }
  if (verdict == VersusVerdict::unclear && ratio.pairs < 2) {
    answer.sentence = "a comparison needs two pairs of runs with an estimate";
  }
  return answer;
}

// Of several programs: "B is faster than A, C and D are slower than A (…)".
SeriesAnswer family_answer(const Repetition& series) {
  const std::string within = percent_words(series.precision.within_percent);
  const std::pair<VersusVerdict, std::string> kinds[] = {{VersusVerdict::faster, "faster than A"},
                                                         {VersusVerdict::same, "the same as A within " + within},
                                                         {VersusVerdict::slower, "slower than A"},
                                                         {VersusVerdict::unclear, "not yet told from A"},
                                                         {VersusVerdict::contradiction, "a contradiction"}};
  SeriesAnswer answer{"RANKED", "", "green"};
  for (const auto& [kind, words] : kinds) {
    std::vector<std::string> letters;
    for (Program other = 1; other < programs_of(series); ++other) {
      if (versus_verdict(series, other) == kind) letters.push_back(letter_of(other));
    }
    if (letters.empty()) continue;
    if (kind == VersusVerdict::unclear) answer = {"UNCLEAR", answer.sentence, ""};
    if (kind == VersusVerdict::contradiction) answer = {"CONTRADICTION", answer.sentence, "red"};
    answer.sentence += fmt::format("{}{} {} {}", answer.sentence.empty() ? "" : ", ", list_of(letters),
                                   letters.size() > 1 ? "are" : "is", words);
  }
  answer.sentence +=
      fmt::format(" ({}, {})", confidence_of(series), plural(known_so_far_of_comparisons(series).runs, "round"));
  return answer;
}

// Whether the time from outside is the machine's, where it is not.
std::optional<std::string> attribution_words(const Versus& versus, Program other) {
  if (versus.attribution == Attribution::outside || !versus.interference.interval) return std::nullopt;
  const std::string letter = letter_of(other);
  const bool is_more = versus.interference.ratio > 1.0;
  const std::string what = fmt::format("by the time lost to interference alone, {} is {} times as long as A", letter,
                                       ratio_words(versus.interference));
  if (versus.attribution == Attribution::program) {
    return what + fmt::format(
                      ". {} has more of it pair by pair, though the machine meets both alike: it counts as the "
                      "program's own",
                      is_more ? letter : "A");
  }
  return what + ". More pairs will tell whether that is the programs' or the machine's";
}

// The cost of a unit may be a few nanoseconds.
std::string cost_words(double cost) {
  return std::abs(cost) < 1e-6 ? fmt::format("{:.3g} ns", 1e9 * cost) : seconds(cost);
}

SeriesAnswer work_answer(const Repetition& series) {
  const WorkSeries& work = *series.work;
  if (!work.rate) return {"UNKNOWN", "a line needs three runs with an estimate, of two amounts of work", ""};
  const EstimatedCost& unit = work.rate->unit;
  return {"COST",
          fmt::format("fixed {} ({}), and {} ({}) for each unit of {} ({}, {})", seconds(work.rate->fixed.seconds),
                      interval_words(interval_of(work.rate->fixed)), cost_words(unit.seconds),
                      cost_words(interval_of(unit).low) + " to " + cost_words(interval_of(unit).high), work.name,
                      confidence_of(series), plural(work.rate->runs, "run")),
          ""};
}

// -- programs side by side

std::string place_words(const Place& place) {
  return place.first == place.last ? std::to_string(place.first) : fmt::format("{}–{}", place.first, place.last);
}

SeriesTable ranking_table(const Repetition& series) {
  SeriesTable table{.heading = "",
                    .program = {},
                    .columns = {{"program", 7, false}, {"place", 5}, {"times as long as A", 27, false}, {"", 0, false}},
                    .rows = {},
                    .legend = {}};
  for (const Place& place : ranking_of(series)) {
    std::vector<std::string> cells{letter_of(place.program), place_words(place)};
    if (place.program == first_program) {
      cells.insert(cells.end(), {"1", "compared with"});
    } else {
      const Versus& versus = series.others[place.program - 1].versus;
      cells.insert(cells.end(),
                   {versus.answer().pairs > 0 ? ratio_words(versus.answer()) : none,
                    fmt::format("{}, {}", name_of(versus_verdict(series, place.program)), basis_words(versus))});
    }
    table.rows.push_back({std::move(cells), place.program});
  }
  return table;
}

// -- means side by side

SeriesTable::Row mean_row(std::string_view what, const MeanTime& mean, double within_percent) {
  const auto known_or_none = [](const auto& value, const auto& words) { return value ? words(*value) : none; };
  std::string needed = "unknown";
  if (mean.runs == 0) needed = none;
  if (mean.runs > 1) needed = mean.floor_percent() >= within_percent ? "never" : "> 10⁶";
  if (mean.runs_needed) needed = std::to_string(*mean.runs_needed);
  return {{std::string(what), std::to_string(mean.runs), mean.runs > 0 ? seconds(mean.mean_seconds) : none,
           known_or_none(mean.interval_seconds, interval_words),
           known_or_none(mean.half_width_percent(), percent_words), needed}};
}

SeriesTable means_table(const Repetition& series, Program program) {
  const SeriesSummary& summary = summary_of(series, program);
  const double within = series.precision.within_percent;
  const std::optional<Program> whose = series.others.empty() ? std::nullopt : std::optional(program);
  return {.heading = whose ? letter_of(program) : "",
          .program = whose,
          .columns = {{"mean of", 25, false},
                      {"runs", 4},
                      {"time", 9},
                      {confidence_words(series.precision.confidence) + " interval", 22},
                      {"±", 7},
                      {"need", 6}},
          .rows = {mean_row("all, as measured", summary.measured, within),
                   mean_row("green or yellow, measured", summary.quiet, within),
                   mean_row("undisturbed times", summary.undisturbed, within)},
          .legend = {},
          .gap = 1};
}

// What the last column means.
std::string legend_of_means(const Repetition& series, const std::vector<SeriesTable>& means) {
  const std::string within = percent_words(series.precision.within_percent);
  const bool is_any_never = std::any_of(means.begin(), means.end(), [](const SeriesTable& table) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [](const SeriesTable::Row& row) { return row.cells.back() == "never"; });
  });
  return fmt::format(
      "need: total number of runs to know this mean to ±{}{}", within,
      is_any_never ? "; never: the floor, an error that all runs may share, is not below ±" + within : std::string());
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

// What else is known of the runs of one program.
std::vector<SeriesFact> facts_about(const SeriesSummary& summary) {
  std::vector<SeriesFact> facts{
      {"hosts", fmt::format("{} seen; other hosts may give other times", plural(summary.hosts, "host"))}};
  if (summary.warm_up_runs > 0) {
    facts.push_back({"warm-up", fmt::format("the first {} left out", plural(summary.warm_up_runs, "run"))});
  }
  if (summary.contradiction) facts.push_back({"CONTRADICTION", contradiction_words(*summary.contradiction)});
  for (const Caveat& caveat : summary.caveats) facts.push_back({"note", caveat_words(caveat)});
  return facts;
}

// The same of all programs, once for those of which the same is known: "A, C: hosts".
std::vector<SeriesFact> facts_about_programs(const Repetition& series) {
  struct Known {
    SeriesFact fact;
    std::vector<std::string> letters;  // of the programs
  };
  std::vector<Known> all;
  for (Program program = first_program; program < programs_of(series); ++program) {
    for (SeriesFact& fact : facts_about(summary_of(series, program))) {
      const auto same = std::find_if(all.begin(), all.end(), [&fact](const Known& known) {
        return known.fact.label == fact.label && known.fact.words == fact.words;
      });
      if (same == all.end()) {
        all.push_back({std::move(fact), {letter_of(program)}});
      } else {
        same->letters.push_back(letter_of(program));
      }
    }
  }
  std::vector<SeriesFact> facts;
  for (Known& known : all) {
    const bool is_of_all = known.letters.size() == programs_of(series) && series.others.size() > 1;
    const std::string whose = is_of_all ? "all" : fmt::format("{}", fmt::join(known.letters, ", "));
    if (!series.others.empty()) known.fact.label = whose + ": " + known.fact.label;
    facts.push_back(std::move(known.fact));
  }
  return facts;
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
      if (series.others.empty()) return "the interval is as narrow as asked for (" + width + ")";
      return (series.others.size() == 1 ? "the interval is" : "all intervals are") + std::string(" narrow enough (") +
             width + ") for a clear answer";
    case StoppedBecause::time: return "the time is up (--for)";
    case StoppedBecause::max_runs:
      return series.rule.is_exact ? plural(*series.rule.most_runs, unit_of(series)) + " were asked for (--runs)"
                                  : fmt::format("the maximum number of {}s is reached (--max-runs)", unit_of(series));
    case StoppedBecause::floor:
      return fmt::format("{} cannot be reached: the floor is {}, since the estimates of all runs {}may share an error",
                         width, percent_words(known_so_far_of(series).floor_percent),
                         series.others.empty() ? "" : "of a program ");
    case StoppedBecause::interrupted: return "interrupted; continue with --resume " + series.directory;
  }
  return "";
}

std::string to_decide_words(const Repetition& series, const TimeRatio& ratio) {
  if (ratio.pairs_needed) return plural(*ratio.pairs_needed, unit_of(series)) + " in all";
  return fmt::format("more {}s are not enough: the floor is {}. Quieter runs lower it", unit_of(series),
                     percent_words(ratio.floor_percent()));
}

// What more runs cannot improve, where it is most of the interval.
std::optional<std::string> floor_words(const Repetition& series) {
  constexpr double share_that_matters = 0.5;
  if (series.work || series.outlook.stopped_because == StoppedBecause::floor) return std::nullopt;
  const KnownSoFar known = known_so_far_of(series);
  if (!known.half_width_percent || known.floor_percent <= share_that_matters * *known.half_width_percent) {
    return std::nullopt;
  }
  const std::string part = percent_words(known.floor_percent);
  const std::string whole = percent_words(*known.half_width_percent);
  return fmt::format(
      "{} the ±{} may be an error of Halcyon's estimates, the same in all runs{}. More runs do not help; quieter runs "
      "do",
      part == whole ? "all of" : fmt::format("±{} of", part), whole, series.others.empty() ? "" : " of a program");
}

// What is known of a comparison. `whose` is before each label.
void add_facts_of_comparison(const Repetition& series, Program other, const std::string& whose,
                             std::vector<SeriesFact>& facts) {
  const OtherProgram& program = series.others[other - 1];
  const Versus& versus = program.versus;
  const auto add = [&](const std::string& label, std::string words) {
    facts.push_back({whose + label, std::move(words)});
  };
  if (versus.measured.pairs > 1) {
    const bool is_by_undisturbed = versus.is_by_undisturbed();
    add(is_by_undisturbed ? "as measured" : "undisturbed",
        ratio_words(is_by_undisturbed ? versus.measured : versus.undisturbed) + " times as long");
  }
  if (std::optional<std::string> words = attribution_words(versus, other)) add("from outside", std::move(*words));
  if (versus.undisturbed.welch) {
    add("unpaired",
        fmt::format("{:.4f} to {:.4f} (Welch)", versus.undisturbed.welch->low, versus.undisturbed.welch->high));
  }
  if (versus.pairs_left_out > 0) {
    add("left out", plural(versus.pairs_left_out, "pair") +
                        ": one of the runs failed, did other work, was warm-up or has no estimate");
  }
  if (versus_verdict(series, other) == VersusVerdict::unclear && versus.answer().interval) {
    add("to decide", to_decide_words(series, versus.answer()));
  }
  if (program.false_alarm_share) {
    add("false alarms", fmt::format("as many pairs of A against itself are called faster or slower in {} of cases",
                                    percent_words(100.0 * *program.false_alarm_share)));
  }
}

std::vector<SeriesFact> facts_of(const Repetition& series) {
  std::vector<SeriesFact> facts;
  if (series.outlook.stopped_because) facts.push_back({"stopped because", stopped_words(series)});
  for (Program other = 1; other < programs_of(series); ++other) {
    add_facts_of_comparison(series, other, series.others.size() > 1 ? letter_of(other) + ": " : "", facts);
  }
  if (series.work && series.work->rate) {
    const WorkRate& rate = *series.work->rate;
    if (rate.rate_interval) {
      const Interval& interval = *rate.rate_interval;
      const std::string range = std::isinf(interval.high)
                                    ? fmt::format("at least {:.4g}", interval.low)
                                    : fmt::format("{:.4g} to {:.4g}", interval.low, interval.high);
      facts.push_back({"units per second", fmt::format("{:.4g} ({})", *rate.units_per_second, range)});
    }
    for (const WorkCaveat code : rate.caveats) facts.push_back({"note", std::string(work_caveat_words(code))});
  }
  if (std::optional<std::string> floor = floor_words(series)) facts.push_back({"floor", std::move(*floor)});
  for (SeriesFact& fact : facts_about_programs(series)) facts.push_back(std::move(fact));
  return facts;
}

// -- every run

SeriesTable runs_table(const Repetition& series) {
  // An amount of work may have many digits. It is in the place of the interference.
  SeriesTable table{.heading = "",
                    .program = {},
                    .columns = {{"run", 9, false},
                                {"measured", 9},
                                {"undisturbed", 11},
                                {"90 % interval", 22},
                                {series.work ? series.work->name : "lost", 6},
                                {"verdict", 0, false}},
                    .rows = {},
                    .legend = {}};
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const ListedRun& run = series.runs[i];
    const std::optional<Program> whose = series.others.empty() ? std::nullopt : std::optional(run.program);
    const std::string name = briefly(run.name, 20);
    if (run.run.end == RunEnd::failed) {
      table.rows.push_back({{name, "failed"}, whose});
      continue;
    }
    const auto& undisturbed = run.run.undisturbed;
    table.rows.push_back(
        {{name, seconds(run.run.measured_seconds), undisturbed ? seconds(undisturbed->seconds) : none,
          undisturbed ? interval_words(undisturbed->interval_seconds) : none,
          series.work ? fmt::format("{:.0f}", run.work) : percent_words(run.interference_percent),
          fmt::format("{}{}", name_of(run.run.verdict), unused[i] ? fmt::format(", {}", name_of(*unused[i])) : "")},
         whose});
  }
  return table;
}

}  // namespace

RepetitionResult result_of(const Repetition& series) {
  RepetitionResult result;
  result.answer = series.work                ? work_answer(series)
                  : series.others.empty()    ? mean_answer(series)
                  : series.others.size() > 1 ? family_answer(series)
                                             : versus_answer(series);
  for (Program program = first_program; program < programs_of(series); ++program) {
    if (program != first_program && series.others[program - 1].is_against_itself) continue;
    result.programs.push_back(
        {series.others.empty() ? "program" : letter_of(program), command_words(command_of(series, program))});
  }
  if (series.others.size() > 1) result.ranking = ranking_table(series);
  result.facts = facts_of(series);
  if (!series.work) {
    for (Program program = first_program; program < programs_of(series); ++program) {
      result.means.push_back(means_table(series, program));
    }
    result.means.back().legend.push_back(legend_of_means(series, result.means));
  }
  result.runs = runs_table(series);
  return result;
}

std::string repetition_text(const Repetition& series) {
  const RepetitionResult result = result_of(series);
  std::string text = text_of(result.answer) + "\n";
  if (result.ranking) text += text_of(*result.ranking) + "\n";
  for (const SeriesFact& program : result.programs) text += wrapped(program.label, program.words);
  for (const SeriesFact& fact : result.facts) {
    const bool has_gap = columns_of(fact.label) < label_width;
    text += wrapped(fact.label + (has_gap ? "" : " "), fact.words);
  }
  for (const SeriesTable& table : result.means) text += "\n" + text_of(table);
  return text + "\n" + text_of(result.runs);
}

std::string next_run_words(const Repetition& series) {
  const std::size_t made = series.runs.size() / programs_of(series);
  if (!series.rule.is_exact) return fmt::format("run {}", series.runs.size() + 1);
  return fmt::format("{} {} of {}", unit_of(series), made + 1, made + series.outlook.most_further.value_or(1));
}

std::string outlook_words(const Repetition& series) {
  const Outlook& outlook = series.outlook;
  const auto more = [&series](std::size_t runs) { return plural(runs, unit_of(series)) + " more"; };
  const KnownSoFar known = known_so_far_of(series);
  const std::optional<double>& width = known.half_width_percent;
  if (series.rule.is_exact) return width ? fmt::format("±{} so far", percent_words(*width)) : "";
  const std::string so_far = width ? fmt::format("±{} so far, ", percent_words(*width)) : "";
  const std::string at_most = outlook.most_further ? ", at most " + more(*outlook.most_further) : "";
  if (!outlook.is_reachable && outlook.reachable_percent) {
    const std::string enough = percent_words(enough_percent(series));
    if (known.floor_percent >= enough_percent(series)) {
      return so_far +
             fmt::format("±{} is not reachable so far: the floor is ±{}", enough, percent_words(known.floor_percent)) +
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
