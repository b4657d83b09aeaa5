// A series of runs of one program (`halcyon repeat`) as text for a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/repeat/family.hpp"
#include "analyzer/repeat/series.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/repeat/versus.hpp"
#include "analyzer/repeat/work_rate.hpp"

namespace halcyon {

/// One of several programs that take turns, in the order in which they were given: 0 is A.
using Program = std::size_t;
inline constexpr Program first_program = 0;
inline constexpr std::size_t most_programs = 26;
/// "A", "B", ...
inline std::string letter_of(Program program) { return {static_cast<char>('A' + program)}; }

/// A run of the series, as it is listed for a reader.
struct ListedRun {
  std::string name;
  std::string file;  // the profile; empty: none
  Program program = first_program;
  double work = 0.0;  // units, if the series varies it
  double interference_percent = 0.0;
  RepeatedRun run;
};

/// Another program, which is compared with A.
struct OtherProgram {
  std::string command;
  bool is_against_itself = false;
  SeriesSummary summary;                    // of its runs
  Versus versus;                            // its confidence is such that all comparisons are right together
  std::optional<double> false_alarm_share;  // of A against itself
};

/// Time over amount of work.
struct WorkSeries {
  std::string name;  // of the amount in the command
  WorkRange range;
  std::optional<WorkRate> rate;
};

struct Repetition {
  std::string command;
  std::string directory;
  Precision precision;
  StoppingRule rule;
  std::vector<ListedRun> runs;  // in the order in which they were made
  SeriesSummary summary;        // of the runs of A
  Outlook outlook;
  std::vector<OtherProgram> others;  // B, C, ...
  std::optional<WorkSeries> work;
};

/// A cost cannot be negative.
inline Interval interval_of(const EstimatedCost& cost) { return not_below_zero(cost.seconds, cost.interval_seconds); }

/// How many programs take turns.
inline std::size_t programs_of(const Repetition& series) { return 1 + series.others.size(); }
const SeriesSummary& summary_of(const Repetition& series, Program program);
const std::string& command_of(const Repetition& series, Program program);
/// The runs of one program, in order.
std::vector<RepeatedRun> runs_of(const Repetition& series, Program program);
/// (runs) Why a run does not count, by the summary of its program; nothing if it counts.
std::vector<std::optional<Unused>> unused_of(const Repetition& series);
/// Runs of A and of another program in the same round, after both were summarised. A run without its partner is left
/// out.
std::vector<RunPair> pairs_of(const Repetition& series, Program other);

/// For a comparison. A contradiction, too, if the means of A or of the other program contradict each other: the
/// undisturbed times, and so their ratio, may be wrong by more than the interval says.
VersusVerdict versus_verdict(const Repetition& series, Program other);
/// The precision of all comparisons together; what limits count are rounds, in each of which every program runs once.
KnownSoFar known_so_far_of_comparisons(const Repetition& series);
/// All programs, the fastest first.
std::vector<Place> ranking_of(const Repetition& series);

/// Whether the series has the answer that it was asked for.
bool is_known(const Repetition& series);

/// The answer first, then the means and every run, in 80 columns.
std::string repetition_text(const Repetition& series);

/// "run 5", or "pair 2 of 4" (with more than two programs, "round 2 of 4") where so many were asked for: more where
/// some do not count.
std::string next_run_words(const Repetition& series);
/// "about 4 runs more, at most 7", or why the precision cannot be reached, for a waiting user. Empty if the number of
/// runs was asked for and nothing is known yet.
std::string outlook_words(const Repetition& series);

}  // namespace halcyon
