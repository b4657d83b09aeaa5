// A run within a series: its time, its undisturbed time as far as known, and whether it counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/verdict.hpp"
#include "analyzer/repeat/mean_time.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// How a run ended. `other_work`: it has a profile, but did not do the work of the first run.
enum class RunEnd : std::uint8_t { finished, failed, other_work };

/// The estimated time of a run without interference, from its own profile.
struct UndisturbedTime {
  double seconds = 0.0;
  Interval interval_seconds;  // with `interval_confidence`, as Analysis::undisturbed_interval_seconds() gives it

  UncertainTime uncertain() const { return UncertainTime::of(seconds, interval_seconds, interval_confidence); }
};

struct RepeatedRun {
  RunEnd end = RunEnd::finished;
  double measured_seconds = 0.0;               // run time; undefined if the run failed
  std::optional<UndisturbedTime> undisturbed;  // none if the analysis gave no estimate
  double lost_to_cpu_waits_seconds = 0.0;      // at least, as the kernel says: others had the CPUs
  Verdict verdict = Verdict::unknown;
  std::vector<std::string> hosts;  // distinct
};

/// Why a run does not count.
enum class Unused : std::uint8_t { failed, other_work, warm_up, no_estimate };
constexpr std::string_view name_of(Unused reason) {
  switch (reason) {
    case Unused::failed: return "failed";
    case Unused::other_work: return "other-work";
    case Unused::warm_up: return "warm-up";
    case Unused::no_estimate: break;
  }
  return "no-estimate";
}

/// (runs) None if a run counts. The first `warm_up_runs` of the runs that finished are warm-up. A run without an
/// estimate of its undisturbed time counts in the mean of the measured times, but not in the undisturbed mean.
std::vector<std::optional<Unused>> reasons_against(std::span<const RepeatedRun> runs, std::size_t warm_up_runs);

/// Number of hosts in all runs, including failed ones.
std::size_t hosts_seen(std::span<const RepeatedRun> runs);

/// The largest number of first runs that `auto` treats as warm-up.
inline constexpr std::size_t most_warm_up_runs = 3;

/// How many of the first runs differ from the rest. The first three are tested if at least four runs follow them; if
/// there are fewer than seven runs, only the first is. A tested run differs if its undisturbed time is outside the
/// 99.9 % prediction interval (Student's t) of the other runs, widened by the run's own interval. The warm-up ends
/// before the first tested run that does not differ. Failed runs and runs of other work are skipped.
std::size_t warm_up_runs(std::span<const RepeatedRun> runs);

}  // namespace halcyon
