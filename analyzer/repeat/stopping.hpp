// When a series of runs is long enough. It stops because of the width of an interval, and never because a result is
// significant: with enough looks, any result becomes significant at some time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "analyzer/repeat/mean_time.hpp"

namespace halcyon {

enum class StoppedBecause : std::uint8_t { width, time, max_runs, floor, interrupted };
constexpr std::string_view name_of(StoppedBecause reason) {
  switch (reason) {
    case StoppedBecause::width: return "width";
    case StoppedBecause::time: return "time";
    case StoppedBecause::max_runs: return "max-runs";
    case StoppedBecause::floor: return "floor";
    case StoppedBecause::interrupted: break;
  }
  return "interrupted";
}

/// Fewer runs do not show how they scatter.
inline constexpr std::size_t default_least_runs = 5;

struct StoppingRule {
  double within_percent = 2.0;                  // half width of the interval
  std::size_t least_runs = default_least_runs;  // that count; at least 2
  std::optional<std::size_t> most_runs;         // that finished and are no warm-up, with an estimate or without
  std::optional<double> most_seconds;           // since the series began
  bool is_exact = false;                        // `most_runs` are made, however narrow the interval is before
};

/// Runs are looked at after `least_runs`, and then each time that there are at least 1.4 times as many as at the last
/// look (5, 7, 10, 14, 20, 28, 40, ...). A fixed schedule with few looks preserves the confidence of the interval at
/// the moment of stopping.
bool is_look(std::size_t runs, std::size_t least_runs);
/// The first look with at least `runs` runs.
std::size_t next_look(std::size_t runs, std::size_t least_runs);

/// How far a series has come.
struct SeriesProgress {
  double elapsed_seconds = 0.0;  // since the series began, over all of its allocations
  double seconds_per_run = 0.0;  // mean, including the time between runs
  bool is_interrupted = false;
  std::size_t without_estimate = 0;  // runs that `most_runs` counts, and that do not count otherwise
  std::size_t warm_up_left = 0;      // runs that will be made and left out
  std::size_t most_warm_up_left = 0;
};

/// What is known about the end of a series.
struct Outlook {
  std::optional<StoppedBecause> stopped_because;  // none: continue
  /// Total number of counting runs when the width is reached: a look of the schedule. None if it is not known yet, or
  /// the width cannot be reached.
  std::optional<std::size_t> expected_runs;
  std::optional<std::size_t> possible_runs;  // that count, in total: as many as `most_runs` and `most_seconds` allow
  /// How many more runs will be made until `expected_runs`, with warm-up, and at most until a limit. None as above.
  std::optional<std::size_t> expected_further;
  std::optional<std::size_t> most_further;
  /// The half width to be expected after `possible_runs`; without a limit, the floor. None if it is not known yet.
  std::optional<double> reachable_percent;
  bool is_reachable = true;  // false: not with the possible runs, or not at all
};

/// The current precision of a series, or of a comparison of pairs. With several programs, rounds are counted instead of runs.
struct KnownSoFar {
  std::size_t runs = 0;                      // that count
  std::optional<double> half_width_percent;  // none with fewer than two runs
  double floor_percent = 0.0;
  std::optional<std::size_t> runs_needed;  // in all
  std::function<std::optional<double>(std::size_t all_runs)> half_width_percent_after;
};
KnownSoFar known_so_far(const MeanTime& mean);

/// Width and floor are checked on the schedule; the width also when a limit ends the series, unless the number of runs
/// was asked for. The series stops because of its floor if that is above the width at a look with at least twice the
/// minimum number of runs. `rule.within_percent` is also that of the mean.
Outlook outlook_of(const KnownSoFar& known, const StoppingRule& rule, const SeriesProgress& progress);

}  // namespace halcyon
