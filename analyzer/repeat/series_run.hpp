// A run as a series of runs sees it: what it took, what is known of its undisturbed time, and whether it counts.
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

/// What a run would have taken without interference, as its own profile says.
struct UndisturbedTime {
  double seconds = 0.0;
  Interval interval_seconds;  // with `interval_confidence`, as Analysis::undisturbed_interval_seconds() gives it

  UncertainTime uncertain() const { return UncertainTime::of(seconds, interval_seconds, interval_confidence); }
};

struct RepeatedRun {
  RunEnd end = RunEnd::finished;
  double measured_seconds = 0.0;               // run time; means nothing where the run failed
  std::optional<UndisturbedTime> undisturbed;  // none where the analysis gave no estimate
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

/// (runs) None where a run counts. The first `warm_up_runs` of the runs that finished are warm-up. A run without an
/// estimate of its undisturbed time counts in the mean of the measured times, but not in the undisturbed mean.
std::vector<std::optional<Unused>> reasons_against(std::span<const RepeatedRun> runs, std::size_t warm_up_runs);

/// How many hosts the runs have seen, failed ones too.
std::size_t hosts_seen(std::span<const RepeatedRun> runs);

/// The most runs at the beginning of a series that `auto` takes for warm-up.
inline constexpr std::size_t most_warm_up_runs = 3;

/// How many of the first runs differ from the rest. The first three are on trial if at least four runs follow them; if
/// there are fewer than seven runs, only the first is. A run on trial differs if its undisturbed time lies outside the
/// 99.9 % prediction interval (Student's t) of the runs that are not on trial, widened by the run's own interval. The
/// warm-up ends before the first run on trial that does not differ. Failed runs and runs of other work are passed over.
std::size_t warm_up_runs(std::span<const RepeatedRun> runs);

}  // namespace halcyon
