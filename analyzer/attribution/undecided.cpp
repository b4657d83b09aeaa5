#include "analyzer/attribution/undecided.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/evidence/cpu_waits.hpp"

namespace halcyon {
namespace {

// Beyond the usual, at least. Nothing if the kernel does not say for what they waited.
double own_waiting_seconds(const Profile& profile, const Breakdown& breakdown) {
  const std::vector<double>& waits = profile.evidence[index_of(Evidence::cpu_wait)];
  double seconds = 0.0;
  for (const RankShare& rank : breakdown.ranks) {
    if (rank.rank >= waits.size() || std::isnan(waits[rank.rank])) continue;
    // What it waited in other segments says nothing of those that took longer, but all of its time off the CPU is
    // known.
    const double waited = profile.lost_to_cpu_wait.empty() ? waits[rank.rank] : 0.0;
    seconds += std::min(std::max(0.0, rank.slept_seconds - waited), slept_at_most(profile, rank.rank));
  }
  return seconds;
}

}  // namespace

// What the program may have done by itself: its ranks, threads and child processes take the CPUs from each other,
// nobody from outside is known to have put a rank to sleep, and durations do not tell whether a thread spun for a
// delayed one or had more to do, nor, by CPU time, whether the machine was slower for a while or the program did more
// work. What a device does is not seen: a kernel may go round its loops as often as its data say. Nor is what a rank
// did that left nothing, while others waited for it.
Undecided undecided_of(const Profile& profile, const Breakdown& breakdown, double speed_seconds) {
  const auto lost_in = [&breakdown](ExcessKind kind) {
    return std::max(0.0, breakdown.kinds[static_cast<std::size_t>(kind)]);
  };
  Undecided undecided{.slept_seconds = own_waiting_seconds(profile, breakdown),
                      .spun_seconds = most_work_beyond_least(profile),
                      .crowded_seconds = waited_for_own_threads(profile),
                      .children_seconds = waited_for_children(profile),
                      .device_seconds = lost_in(ExcessKind::device)};
  if (profile.counter == "cpu") {
    undecided.slower_seconds = std::min(speed_seconds, lost_in(ExcessKind::computation));
  }
  bool is_rank_missing = false;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    is_rank_missing = is_rank_missing || profile.left_nothing(rank);
  }
  if (is_rank_missing) {
    undecided.waited_seconds = lost_in(ExcessKind::point_to_point) + lost_in(ExcessKind::collective);
  }
  return undecided;
}

}  // namespace halcyon
