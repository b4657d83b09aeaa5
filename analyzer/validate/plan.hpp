// The plan of a validation: which runs are made, in which order, and what is injected into each (after the paper,
// section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace halcyon {

/// A run is quiet, has delays injected, or runs beside a disturber.
enum class RunKind : std::uint8_t { quiet, injected, disturbed };
std::string_view name_of(RunKind kind);

/// What must be known about a program before delays can be chosen for it.
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
  int disturber = -1;      // beside which it runs, of the requested ones
  std::uint64_t seed = 0;  // of the injector or the disturber's bursts, different for each run
};

inline constexpr double most_target_percent = 45.0;
inline constexpr double fewest_hits_per_segment = 0.05;
inline constexpr double most_hits_per_segment = 16.0;
/// A shorter delay cannot be distinguished from the cost of waiting for it.
inline constexpr double shortest_delay_seconds = 5e-6;

/// Target of injected level 1 to `injected_levels`: 45 % (level / levels)^1.5, closer where the classes meet.
double target_of_level(int level, int injected_levels);

/// The expected hits of the rank that is hit most often: hits of one segment on different ranks overlap. `hits`: over
/// all ranks, Poisson distributed on each.
double critical_hits(double hits, int ranks);

/// Quiet runs that come first. They show whether anything can be validated on the machine.
inline constexpr std::size_t first_quiet_runs = 3;

/// The runs in the order in which they are to be made. Those with delays or disturbers come in `runs` rounds, each of
/// every level and every disturber once, shuffled, so that drift of the machine affects all alike. Every two of them
/// are between quiet runs (A B B A B B A ...), so that each has quiet neighbours before and after it. Hits per segment
/// are on a logarithmic scale in `runs` bands; each level has one run in each band, each band has each level once, and
/// no value occurs twice. Hits that would need delays below the shortest, or more than half of the calls, are reduced
/// to the possible number.
std::vector<PlannedRun> plan_runs(const Calibration& calibration, const PlanRequest& request);

}  // namespace halcyon
