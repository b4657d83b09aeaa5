// Which rank held the others up in a segment.
#pragma once

namespace halcyon {

/// By how much a rank held the others up; the rank with the largest value did. Seconds, up to a constant that is the
/// same for all ranks of the segment.
///
/// A rank that waits for others does so in the boundary, and polls: it stays on the CPU. So the later a rank comes to
/// the boundary, the shorter it waits there. That alone does not tell two ranks apart of which one has waited for the
/// other in an earlier call, so that both come together, nor a rank that is stopped inside the boundary. But a rank
/// that is stopped is off the CPU (preempted, blocked in I/O): that time counts as its own. Time on the CPU inside
/// earlier calls may be waiting, or the rank's own transfer: it counts half, which tells ranks that come together apart
/// and never outweighs coming late because of it. `boundary`, `calls`: s in the boundary and in all other calls;
/// `off_cpu`: s off the CPU, wherever.
inline double lateness(double boundary, double calls, double off_cpu) {
  const double polled = calls > off_cpu ? calls - off_cpu : 0.0;
  return off_cpu - boundary - 0.5 * polled;
}

}  // namespace halcyon
