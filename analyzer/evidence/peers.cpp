#include "analyzer/evidence/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "analyzer/evidence/cpu_waits.hpp"
#include "analyzer/groups/speeds.hpp"
#include "analyzer/machine/probes.hpp"
#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/sorting.hpp"
#include "analyzer/statistics/student.hpp"
#include "libprofile/format/beside_peers.hpp"

namespace halcyon {
namespace {

constexpr double least_told_share = 0.01;  // of the run time
constexpr double explains = 0.5;           // of the time beyond that of the peers

// The computing time of a rank and what it would have been beside its peers, by eighth of the run.
struct Sums {
  std::array<double, RankSections::eighths> computing{};
  std::array<double, RankSections::eighths> at_peers{};

  void add(std::size_t section, double own, double peers) {
    computing[section % RankSections::eighths] += own;
    at_peers[section % RankSections::eighths] += peers;
  }
  // What is beyond that of the peers, s.
  double beyond() const {
    return std::max(0.0, std::accumulate(computing.begin(), computing.end(), 0.0) -
                             std::accumulate(at_peers.begin(), at_peers.end(), 0.0));
  }
};

// Of the time that a rank computes `times` as long as its peers, what is beyond theirs.
double share_beyond(double times) { return times > 1.0 ? 1.0 - 1.0 / times : 0.0; }

// How often as long the rank computed. The eighths say how sure that is.
std::optional<RankBehind> behind(std::uint32_t rank, const Sums& sums) {
  std::vector<double> ratios;
  double computing = 0.0;
  double at_peers = 0.0;
  for (std::size_t i = 0; i < sums.computing.size(); ++i) {
    if (!(sums.at_peers[i] > 0.0)) continue;
    ratios.push_back(sums.computing[i] / sums.at_peers[i]);
    computing += sums.computing[i];
    at_peers += sums.at_peers[i];
  }
  if (ratios.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(ratios.size());
  const double variance = squares_about(ratios, mean_value(ratios)) / (count - 1.0);
  const double half = student_quantile_of_interval(interval_confidence, count - 1.0) * std::sqrt(variance / count);
  RankBehind result;
  result.rank = rank;
  result.times = computing / at_peers;
  result.times_interval = interval_around(result.times, half);
  if (!(result.times_interval.low > 1.0)) return std::nullopt;
  return result;
}

// So much of the run was lost by it.
void charge(RankBehind& rank, double seconds) {
  const double share = share_beyond(rank.times);
  rank.lost_seconds = seconds;
  rank.lost_interval_seconds = {seconds * share_beyond(rank.times_interval.low) / share,
                                seconds * share_beyond(rank.times_interval.high) / share};
}

// (ranks) s of the segments in which each held the others up.
std::vector<double> lost_by_rank(const Profile& profile, const std::vector<float>& column) {
  std::vector<double> seconds(static_cast<std::size_t>(profile.ranks), 0.0);
  for (std::size_t segment = 0; segment < column.size(); ++segment) {
    seconds[profile.last_rank[segment]] += static_cast<double>(column[segment]);
  }
  return seconds;
}

// The ranks that were behind by a column, and lost at least a hundredth of the run. A segment is charged to the rank
// that came last, if that is one of them. Where another came last by chance, as ranks that share a core do, it is
// charged to those that are behind, in proportion.
std::vector<RankBehind> behind_by(const Profile& profile, const std::vector<float>& column,
                                  double BesidePeers::*at_peers) {
  const std::vector<double> lost = lost_by_rank(profile, column);
  const double all = std::accumulate(lost.begin(), lost.end(), 0.0);
  if (all < least_told_share * profile.run_time_seconds) return {};
  std::vector<Sums> sums(lost.size());
  for_each_beside_peers(profile.sections, [&](const BesidePeers& rank) {
    sums[rank.rank].add(rank.section, rank.computing, rank.*at_peers);
  });
  std::vector<RankBehind> ranks;
  double charged = 0.0;
  double beyond = 0.0;
  for (std::uint32_t rank = 0; rank < lost.size(); ++rank) {
    const std::optional<RankBehind> one = behind(rank, sums[rank]);
    if (!one) continue;
    ranks.push_back(*one);
    charged += lost[rank];
    beyond += sums[rank].beyond();
  }
  std::erase_if(ranks, [&](RankBehind& one) {
    const double seconds = lost[one.rank] + (all - charged) * sums[one.rank].beyond() / beyond;
    charge(one, seconds);
    return seconds < least_told_share * profile.run_time_seconds;
  });
  std::ranges::sort(ranks, std::greater(), &RankBehind::lost_seconds);
  return ranks;
}

// A rank that takes longer for the same work has a slower core or memory, or shares its core; unless it slept by
// itself, in stretches too short to be seen in segments. By CPU time alone, only a wait for a CPU can be beyond the
// work.
Whose whose_slowness(const Profile& profile, const RankBehind& rank) {
  if (!cpu_waits_are_of_others(profile)) return Whose::program;
  const double beyond = explains * share_beyond(rank.times) * profile.run_time_seconds;
  const double waited = evidence_of(profile, Evidence::cpu_wait, rank.rank);
  if (waited >= beyond) return Whose::machine;  // NaN is not
  const double off_cpu = evidence_of(profile, Evidence::off_cpu, rank.rank);
  const bool has_slept = off_cpu - (waited >= 0.0 ? waited : 0.0) >= beyond;
  return profile.counter == "cpu" || has_slept ? Whose::unknown : Whose::machine;
}

// The time of the probe in registers beside that of the other ranks with the same processor: the better one of before
// and after the run.
std::optional<double> probed_times(const Profile& profile, std::uint32_t rank) {
  const ProbeColumns& probe = profile.probes[index_of(Probe::registers)];
  std::optional<double> least;
  for (const std::vector<double>* best : {&probe.best_before, &probe.best_after}) {
    if (best->size() != profile.rank_cpu.size()) continue;
    std::vector<double> others;
    for (std::size_t other = 0; other < best->size(); ++other) {
      if (profile.rank_cpu[other] == profile.rank_cpu[rank] && (*best)[other] > 0.0) others.push_back((*best)[other]);
    }
    if (others.size() < 2 || !((*best)[rank] > 0.0)) continue;
    sort_ascending(others);
    const double times = (*best)[rank] / median_without(others, (*best)[rank]);
    least = std::min(times, least.value_or(times));
  }
  return least;
}

// A hardware counter counts what the program does. CPU time also grows on a slower core, which probes may have seen.
Whose whose_work(const Profile& profile, const RankBehind& rank) {
  if (profile.counter != "cpu" || rank.times_interval.low > most_slower) return Whose::program;
  const std::optional<double> probed = probed_times(profile, rank.rank);
  if (!probed) return Whose::unknown;
  constexpr double slow = 100.0 / least_speed_percent;
  constexpr double scatter = 0.5 * (slow - 1.0);
  if (*probed >= slow) return Whose::machine;
  return *probed <= 1.0 + scatter && rank.times_interval.low > slow ? Whose::program : Whose::unknown;
}

}  // namespace

PeerComparison compare_with_peers(const Profile& profile) {
  PeerComparison peers;
  if (profile.sections.count() == 0 || !(profile.run_time_seconds > 0.0)) return peers;
  peers.slower = behind_by(profile, profile.lost_to_slower_ranks, &BesidePeers::at_pace);
  for (RankBehind& rank : peers.slower) rank.whose = whose_slowness(profile, rank);
  peers.more_work = behind_by(profile, profile.lost_to_more_work, &BesidePeers::with_work);
  for (RankBehind& rank : peers.more_work) rank.whose = whose_work(profile, rank);
  return peers;
}

std::vector<float> lost_to_slower_machine(const Profile& profile, const PeerComparison& peers) {
  std::vector<bool> is_slow(static_cast<std::size_t>(profile.ranks), false);
  for (const RankBehind& rank : peers.slower) is_slow[rank.rank] = rank.whose == Whose::machine;
  if (std::ranges::find(is_slow, true) == is_slow.end()) return {};
  std::vector<float> lost = profile.lost_to_slower_ranks;
  for (std::size_t segment = 0; segment < lost.size(); ++segment) {
    if (!is_slow[profile.last_rank[segment]]) lost[segment] = 0.0F;
  }
  return lost;
}

Interval relative_interval(const std::vector<RankBehind>& ranks) {
  double seconds = 0.0;
  Interval sum;
  for (const RankBehind& rank : ranks) {
    if (rank.whose != Whose::machine) continue;
    seconds += rank.lost_seconds;
    sum.low += rank.lost_interval_seconds.low;
    sum.high += rank.lost_interval_seconds.high;
  }
  return seconds > 0.0 ? Interval{sum.low / seconds, sum.high / seconds} : Interval{1.0, 1.0};
}

}  // namespace halcyon
