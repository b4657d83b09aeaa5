// How near the estimates come to what is measured: the plan of an evaluation after the paper, section 3, for any
// program and machine, and the figures that come out of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/machine/background.hpp"

namespace halcyon {

// ---- the plan

/// Quiet, with delays injected, or beside a disturber.
enum class RunKind : std::uint8_t { quiet, injected, disturbed };
std::string_view name_of(RunKind kind);

/// What must be known of a program before delays can be chosen for it.
struct Calibration {
  double run_time_seconds = 0.0;  // undisturbed
  std::uint64_t segments = 0;
  int ranks = 0;
  double calls = 0.0;  // that can be delayed, over all ranks and the whole run

  double calls_per_segment() const { return calls / static_cast<double>(segments); }
};

struct PlanRequest {
  int levels = 0;      // of injected disturbance, "quiet" included
  int runs = 0;        // of each injected level, and beside each disturber
  int disturbers = 0;  // kinds of them
  std::uint64_t seed = 0;
};

struct PlannedRun {
  RunKind kind = RunKind::quiet;
  double target_percent = 0.0;    // of the disturbed run time
  double hits_per_segment = 0.0;  // expected, over all ranks
  double probability = 0.0;       // of a call to be delayed
  double delay_seconds = 0.0;     // mean of a delay
  double deviation_seconds = 0.0;
  int disturber = -1;      // beside which it runs, of those that were asked for
  std::uint64_t seed = 0;  // of the injector or the disturber's bursts, another one for each run
};

inline constexpr double most_target_percent = 45.0;
inline constexpr double fewest_hits_per_segment = 0.05;
inline constexpr double most_hits_per_segment = 16.0;
/// A shorter delay cannot be told from the cost of waiting for it.
inline constexpr double shortest_delay_seconds = 5e-6;

/// Target of injected level 1 to `injected_levels`: 45 % (level / levels)^1.5, closer where the classes meet.
double target_of_level(int level, int injected_levels);

/// Of Poisson many hits on each rank, `hits` over all ranks, those of the rank that is hit most often: hits of one
/// segment on different ranks overlap.
double critical_hits(double hits, int ranks);

/// Quiet runs that come first, to see whether the machine can be validated on.
inline constexpr std::size_t first_quiet_runs = 3;

/// The runs in the order in which they are to be made. Those with delays or disturbers come in `runs` rounds, each of
/// every level and every disturber once, shuffled, so that drift of the machine meets all alike. Every two of them lie
/// between quiet runs (A B B A B B A ...), so that each has quiet neighbours before and after it. Hits per segment lie
/// on a logarithmic scale in `runs` bands; each level has one run in each band, each band each level once, and none of
/// the values occurs twice. Hits that would need delays below the shortest, or more than half of the calls, are cut
/// down to what can be had.
std::vector<PlannedRun> plan_runs(const Calibration& calibration, const PlanRequest& request);

// ---- the results

/// What a run is measured against the fastest one by, all in percent of the run's own time T.
enum class Truth : std::uint8_t {
  measured,              // (T - T_fastest) / T
  without_displacement,  // less what the medians of its groups are displaced by: continuous interference
  with_background,       // T_fastest less what the background, measured around it, took of it
  at_equal_speed,  // with times in units of the CPU time that the run computed for: as if all had run at one speed
  paired,          // against what its quiet neighbours took, in place of the fastest: see summarise()
};
struct TruthInfo {
  std::string_view name;   // in JSON
  std::string_view label;  // in tables and figures
};
inline constexpr std::array<TruthInfo, 5> truth_infos{{{"measured", "measured"},
                                                       {"without_displacement", "without displacement"},
                                                       {"with_background", "with background"},
                                                       {"at_equal_speed", "at equal speed"},
                                                       {"paired", "by pairs"}}};
inline constexpr std::size_t truth_count = truth_infos.size();
constexpr std::size_t index_of(Truth truth) { return static_cast<std::size_t>(truth); }
constexpr const TruthInfo& info_of(Truth truth) { return truth_infos[index_of(truth)]; }

/// What a run's truth is known to be, and how well.
struct KnownTruth {
  double percent = 0.0;
  std::optional<double> uncertainty_points;  // half of a 90 % interval; none where too few runs were quiet
};

struct ValidatedRun {
  PlannedRun plan;
  double middle_seconds = 0.0;  // of the run, since the series began
  double run_time_seconds = 0.0;
  double displacement_seconds = 0.0;  // of its groups' medians against the fastest run
  double coverage_percent = 0.0;
  std::uint64_t segments = 0;
  std::optional<double> injected_percent;
  std::optional<Background> background;
  std::optional<double> computing_seconds;                      // see computing_seconds()
  std::vector<MethodResult> methods;                            // in the order of estimators.hpp
  std::array<std::optional<KnownTruth>, truth_count> truths{};  // filled by summarise()

  const std::optional<KnownTruth>& truth(Truth which) const { return truths[index_of(which)]; }
};

/// CPU time of the run's computation, the median over ranks added up over segments: in runs of the same work the speed
/// of the machine, as delays take no CPU time. None where the profile's compute feature is not CPU time.
std::optional<double> computing_seconds(const Profile& profile);

/// 1 - |P(truth) - P(estimate)|, P the probability of a highly disturbed run (the paper, section 3). Both in percent.
double soft_accuracy(double truth_percent, double estimate_percent);

/// The value below which the share `p` of the values lies, linear between order statistics (Hyndman and Fan 1996, type
/// 7). Needs at least one value; they need not be sorted.
double quantile(std::vector<double> values, double p);

/// How one method did in one run.
struct Score {
  double accuracy = 0.0;
  double difference_points = 0.0;  // |truth - estimate|
  bool covered = false;            // the 90 % interval holds the truth
  bool reached = false;            // or comes as near to it as the truth is known
};
/// None where the method gave no verdict, or the truth is not known.
std::optional<Score> score_of(const ValidatedRun& run, std::size_t method, Truth truth);

/// How one method did in all runs, of those that it judged.
struct MethodSummary {
  std::string_view method;
  Truth truth = Truth::measured;
  std::vector<double> accuracy;           // (judged runs)
  std::vector<double> difference_points;  // (judged runs)
  std::size_t covered = 0;                // judged runs whose interval holds the truth
  std::size_t reached = 0;                // or comes as near to it as the truth is known
};

/// How noisy the machine was by itself, as its quiet runs show.
struct Noise {
  std::size_t quiet_runs = 0;
  std::optional<double> background_percent;  // median over them
  // A 90 % interval of how well a quiet run's truth by pairs is known, in points either way: few runs tell it roughly.
  std::optional<Interval> uncertainty_points;
};

/// Beyond, the truth cannot tell a green run from a red one.
inline constexpr double most_uncertainty_points = red_above_percent - green_below_percent;
/// Beyond, fixed work alone loses what makes a run red.
inline constexpr double most_background_percent = red_above_percent;

/// Why nothing can be validated on such a machine, if that is beyond doubt.
std::optional<std::string> objection_to(const Noise& noise);

struct Validation {
  std::vector<ValidatedRun> runs;            // in the order in which they were made
  std::size_t fastest = 0;                   // of them
  std::optional<double> background_percent;  // median over the runs without a disturber
  bool paired_at_equal_speed = false;        // times by pairs are in units of the background's quantum
  Noise noise;
  std::vector<MethodSummary> summaries;  // method by method, truth by truth; truths that are not known are left out

  std::vector<Truth> known_truths() const;  // of any run
};

/// The run that took the least time. Needs at least one.
std::size_t fastest_of(const std::vector<ValidatedRun>& runs);

/// Fills in the truths and sums up. Needs displacements against the fastest run, and at least one run. By pairs, a run
/// is held against its nearest quiet neighbours before and after it, interpolated to its own middle, so that drift of
/// the machine cancels to first order; times are in units of the background's quantum where quiet runs agree better so.
/// How well a truth is known is what it varies by among the quiet runs, for which it should be the same.
Validation summarise(std::vector<ValidatedRun> runs);

}  // namespace halcyon
