#include "report/series/repetition.hpp"

#include <algorithm>

namespace halcyon {

const SeriesSummary& summary_of(const Repetition& series, Program program) {
  return program == first_program ? series.summary : series.others[program - 1].summary;
}

const std::string& command_of(const Repetition& series, Program program) {
  return program == first_program ? series.command : series.others[program - 1].command;
}

std::vector<RepeatedRun> runs_of(const Repetition& series, Program program) {
  std::vector<RepeatedRun> runs;
  for (const ListedRun& run : series.runs) {
    if (run.program == program) runs.push_back(run.run);
  }
  return runs;
}

std::vector<std::optional<Unused>> unused_of(const Repetition& series) {
  std::vector<std::optional<Unused>> result;
  std::vector<std::size_t> listed(programs_of(series), 0);  // (programs) runs so far
  for (const ListedRun& run : series.runs) {
    result.push_back(summary_of(series, run.program).unused[listed[run.program]++]);
  }
  return result;
}

std::vector<RunPair> pairs_of(const Repetition& series, Program other) {
  const std::vector<RepeatedRun> a = runs_of(series, first_program);
  const std::vector<RepeatedRun> b = runs_of(series, other);
  const auto is_warm_up = [&series](Program program, std::size_t run) {
    return summary_of(series, program).unused[run] == Unused::warm_up;
  };
  std::vector<RunPair> pairs;
  for (std::size_t pair = 0; pair < std::min(a.size(), b.size()); ++pair) {
    pairs.push_back(
        {.a = a[pair], .b = b[pair], .is_warm_up = is_warm_up(first_program, pair) || is_warm_up(other, pair)});
  }
  return pairs;
}

VersusVerdict versus_verdict(const Repetition& series, Program other) {
  const bool are_contradicting = series.summary.contradiction || summary_of(series, other).contradiction;
  return are_contradicting ? VersusVerdict::contradiction : series.others[other - 1].versus.verdict;
}

namespace {

// With fewer runs than the least, the interval may be narrow by chance.
bool is_known(const Repetition& series, const MeanTime& mean) {
  return !series.summary.contradiction && mean.interval_seconds && mean.runs >= series.rule.least_runs &&
         *mean.half_width_percent() <= series.precision.within_percent;
}

}  // namespace

bool is_known(const Repetition& series) {
  if (series.work) return series.work->rate.has_value();
  if (series.others.empty()) return is_known(series, series.summary.undisturbed);
  for (Program other = 1; other < programs_of(series); ++other) {
    const VersusVerdict verdict = versus_verdict(series, other);
    if (verdict == VersusVerdict::unclear || verdict == VersusVerdict::contradiction) return false;
  }
  return true;
}

KnownSoFar known_so_far_of_comparisons(const Repetition& series) {
  std::vector<Versus> comparisons;
  for (const OtherProgram& other : series.others) comparisons.push_back(other.versus);
  return known_together(comparisons, versus_half_width_percent(series.precision.within_percent));
}

std::vector<Place> ranking_of(const Repetition& series) {
  std::vector<RankedTime> times{RankedTime::of_first()};
  for (Program other = 1; other < programs_of(series); ++other) {
    Versus versus = series.others[other - 1].versus;
    versus.verdict = versus_verdict(series, other);
    times.push_back(RankedTime::of(versus));
  }
  return places(times);
}

}  // namespace halcyon
