// What the operating system saw a run lose, and what it surely did not lose, enters its estimate.
#pragma once

#include <span>
#include <vector>

#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

/// Durations do not show what strikes all segments of a group alike. So what it typically lost to slow ranks is added
/// to its excess, which is also at least what its segments lost to waits for a CPU. Each segment gets its part. The low
/// end of the interval rises with them, and the high one contains the estimate.
void raise_to_surely_lost(RunEstimate& estimate, const JudgedDurations& run);

/// (groups) What all segments of each have computed on a CPU, on the rank that had most to do, less what slow stretches
/// of the machine have added to it: s. 0 if work is not CPU time.
std::vector<double> needed_seconds(const JudgedDurations& run);

/// What segments took in which more was counted than in nearly all others of their group, in s, at most: a thread that
/// spins for another one executes instructions.
double seconds_beyond_least_work(const JudgedDurations& run);

/// No group has lost more than its time beyond what it needs.
void leave_what_is_needed(RunEstimate& estimate, const JudgedDurations& run, std::span<const double> needed_seconds);

/// No segment has lost more than it took: what is too much goes to the others of its group, as they have room.
void keep_within_durations(RunEstimate& estimate, const JudgedDurations& run);

}  // namespace halcyon
