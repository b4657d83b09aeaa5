// Which rank held the others up in a segment.
#pragma once

namespace halcyon {

/// How much a rank held the others up: the rank with the largest value did. In seconds, up to a constant that is the
/// same for all ranks of the segment.
///
/// A rank that waits for others does so in the boundary, and polls: it stays on the CPU. So the later a rank comes to
/// the boundary, the shorter it waits there. The wait alone misses two cases: two ranks that come together because one
/// waited for the other in an earlier call, and a rank that is stopped inside the boundary. A stopped rank is off the
/// CPU (preempted, blocked in I/O), so time off the CPU counts as its own delay. Time on the CPU inside earlier calls
/// may be waiting, or the rank's own transfer. It is subtracted at half its length: this separates ranks that come
/// together, and never outweighs coming late because of it. `boundary`, `calls`: s in the boundary and in all other
/// calls; `off_cpu`: s off the CPU, anywhere.
inline double lateness(double boundary, double calls, double off_cpu) {
  const double polled = calls > off_cpu ? calls - off_cpu : 0.0;
  return off_cpu - boundary - 0.5 * polled;
}

}  // namespace halcyon
