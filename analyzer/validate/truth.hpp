// The true loss of a run of a validation, and its uncertainty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/machine/background.hpp"
#include "analyzer/validate/plan.hpp"

namespace halcyon {

/// How a run is compared with the fastest one. All are in percent of the run's own time T.
enum class Truth : std::uint8_t {
  measured,              // (T - T_fastest) / T
  without_displacement,  // minus the displacement of the medians of its groups: continuous interference
  with_background,       // with T_fastest minus the background that was measured around it
  at_equal_speed,        // with times in units of the CPU time of the run's computation: as if all had run at one speed
  paired,                // compared with its quiet neighbours instead of the fastest run: see set_truths()
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

/// A run's truth, and its uncertainty.
struct KnownTruth {
  double percent = 0.0;
  std::optional<double> uncertainty_points;  // half of a 90 % interval; none if too few runs were quiet
};

struct ValidatedRun {
  PlannedRun plan;
  double middle_seconds = 0.0;  // of the run, since the series began
  double run_time_seconds = 0.0;
  double displacement_seconds = 0.0;  // of its groups' medians, relative to the fastest run
  double coverage_percent = 0.0;
  std::uint64_t segments = 0;
  std::optional<double> injected_percent;
  std::optional<Background> background;
  std::optional<double> computing_seconds;                      // see computing_seconds()
  std::vector<MethodResult> methods;                            // in the order of estimators.hpp
  std::array<std::optional<KnownTruth>, truth_count> truths{};  // filled by summarise()

  const std::optional<KnownTruth>& truth(Truth which) const { return truths[index_of(which)]; }
};

/// CPU time of the run's computation: the median over ranks, summed over segments. In runs of the same work it shows
/// the speed of the machine, as delays take no CPU time. None if the profile's compute feature is not CPU time.
std::optional<double> computing_seconds(const Profile& profile);

/// How noisy the machine itself was, from its quiet runs.
struct Noise {
  std::size_t quiet_runs = 0;
  std::optional<double> background_percent;  // median over them
  // A 90 % interval of the uncertainty of a quiet run's truth by pairs, in points on each side: wide with few runs.
  std::optional<Interval> uncertainty_points;
};

/// With more, the truth cannot distinguish a green run from a red one.
inline constexpr double most_uncertainty_points = red_above_percent - green_below_percent;
/// With more, fixed work alone loses as much as a red run.
inline constexpr double most_background_percent = red_above_percent;

/// Why nothing can be validated on such a machine, if that is certain.
std::optional<std::string> objection_to(const Noise& noise);

/// The run that took the least time. Needs at least one.
std::size_t fastest_of(const std::vector<ValidatedRun>& runs);

/// What set_truths() finds in addition to the truths.
struct SeriesTruth {
  Noise noise;
  bool paired_at_equal_speed = false;  // times by pairs are in units of the background's quantum
};

/// Sets the truths of all runs. Needs displacements from the fastest run, and at least one run. By pairs, a run is
/// compared with its nearest quiet neighbours before and after it, interpolated to its own middle, so that drift of the
/// machine cancels to first order. Times are in units of the background's quantum if quiet runs agree better that way.
/// A truth should be the same for all quiet runs: its variation among them gives its uncertainty.
SeriesTruth set_truths(std::vector<ValidatedRun>& runs);

}  // namespace halcyon
