// The whole analysis of one profile: grouping, estimates, interval, verdict and warnings.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/breakdown.hpp"
#include "analyzer/attribution/cause.hpp"
#include "analyzer/attribution/undecided.hpp"
#include "analyzer/estimate/estimators.hpp"
#include "analyzer/evidence/peers.hpp"
#include "analyzer/groups/grouping.hpp"
#include "analyzer/judge/verdict.hpp"
#include "analyzer/judge/warnings.hpp"
#include "analyzer/machine/probes.hpp"
#include "analyzer/phases/phases.hpp"
#include "analyzer/phases/unit_of_work.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The result of one method for the run.
struct MethodResult {
  std::string_view name;
  double excess_seconds = 0.0;
  double interference_percent = 0.0;  // of the whole, disturbed run time
  // Parts of the interference: a slowdown of nearly all segments, slow stretches of the machine, and ranks slower than
  // their peers. The rest is instantaneous.
  double continuous_percent = 0.0;
  double speed_percent = 0.0;
  double slow_ranks_percent = 0.0;

  double instantaneous_percent() const {
    return std::max(0.0, interference_percent - continuous_percent - speed_percent - slow_ranks_percent);
  }
  Interval interval_percent;  // 90 %
  double probability_high = 0.0;
  // Most of what was lost may be the program's own doing: the verdict is red only if the rest alone makes it so.
  bool may_be_own = false;
  Verdict verdict = Verdict::unknown;
};

struct Analysis {
  std::uint64_t segments = 0;
  std::uint32_t clusters = 0;
  std::uint32_t groups = 0;
  std::uint64_t judged_segments = 0;
  double run_time_seconds = 0.0;
  double coverage_percent = 0.0;   // share of the run time of which is known whether it was lost
  double accounted_percent = 0.0;  // part of that, in segments that no others are like: by what the kernel counted
  double segment_rate_hz = 0.0;
  std::vector<MethodResult> methods;    // in the order of estimators.hpp
  std::size_t chosen = 0;               // the method used for the verdict
  std::vector<float> excess;            // (segments) s by that method, may be negative; 0 if it is not judged
  Breakdown breakdown;                  // of that excess
  Undecided undecided;                  // of the default method
  SecondsByKind spent{};                // by the ranks that held the others up, in all segments
  double slow_percent = 0.0;            // of the run time, by slow changes; not in the excess
  std::optional<NoVerdict> no_verdict;  // and why
  std::optional<Cause> cause;           // of a yellow or red verdict
  std::vector<JudgedGroup> judged;      // ascending
  std::optional<UnitOfWork> unit;       // none if nothing recurs
  std::optional<Phases> phases;         // none without a repeated part
  std::optional<double> injected_percent;
  std::optional<KnownRuns> known_runs;  // their rise is in the excess of the default method
  ProbeDisplacements probes;            // not in the excess
  PeerComparison peers;
  std::vector<Warning> warnings;

  const MethodResult& result() const { return methods[chosen]; }
  /// Whether other runs can be compared with it. They can with a composed profile, which has no verdict of its own, and
  /// with a run whose interval is too wide for one, because the interval of the comparison contains that.
  bool is_comparable() const { return !no_verdict || no_verdict->is_comparable; }
  /// Whether there is an estimate, even if it says too little for a verdict.
  bool has_estimate() const { return !no_verdict || no_verdict->has_estimate; }
  /// Whether there are medians as well, of enough of the run for later runs to be compared with.
  bool has_medians() const { return has_estimate() && coverage_percent - accounted_percent >= least_coverage_percent; }
  /// Null for a group too small to be judged.
  const JudgedGroup* judged_group(std::uint32_t group) const;
  double undisturbed_time_seconds() const { return run_time_seconds - result().excess_seconds; }
  /// From the 90 % interval of the excess.
  Interval undisturbed_interval_seconds() const;
};

/// Runs all `candidates`, of which `method` must be one. `grouping` is the profile's.
Analysis analyze(const Profile& profile, const Grouping& grouping, std::string_view method,
                 std::span<const Method> candidates = methods);
Analysis analyze(const Profile& profile, std::string_view method, std::span<const Method> candidates = methods);

/// A run, its groups and its analysis: the input for comparing and composing.
struct JudgedRun {
  const Profile& profile;
  Grouping grouping;
  Analysis analysis;

  GroupedRun grouped() const { return {profile, grouping}; }
};
/// By the default method.
JudgedRun judge(const Profile& profile);
JudgedRun judge(Profile&&) = delete;  // the run refers to the profile

}  // namespace halcyon
