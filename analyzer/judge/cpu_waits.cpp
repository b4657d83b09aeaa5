#include "analyzer/judge/cpu_waits.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analyzer/groups/timeline.hpp"

namespace halcyon {

bool has_more_ranks_than_cores(const Profile& profile) {
  const std::vector<double>& cpus = profile.evidence[index_of(Evidence::cpus)];
  std::map<std::string, double> ranks;
  for (const std::string& host : profile.rank_host) ++ranks[host];
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    if (cpus[rank] >= 1.0 && ranks[profile.rank_host[rank]] > cpus[rank]) return true;
  }
  return false;
}

std::optional<CrowdedCores> crowded_cores(const Profile& profile) {
  const std::vector<double>& cpus = profile.evidence[index_of(Evidence::cpus)];
  const std::vector<double>& own_cpus = profile.evidence[index_of(Evidence::own_cpus)];
  const std::vector<double>& threads = profile.evidence[index_of(Evidence::busy_threads)];
  constexpr double more = 0.5;  // a mean over the run, in which a thread may have slept now and then
  std::map<std::string, CrowdedCores> of_host;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {  // NaN is not above
    const std::string& host = profile.rank_host[rank];
    if (threads[rank] > 1.0 && rank < own_cpus.size() && threads[rank] > own_cpus[rank] + more) {
      return CrowdedCores{.host = host, .bound_rank = rank, .threads = threads[rank], .cores = own_cpus[rank]};
    }
    CrowdedCores& all = of_host.try_emplace(host, CrowdedCores{.host = host, .ranks = 0}).first->second;
    ++all.ranks;
    all.threads += threads[rank] > 1.0 ? threads[rank] : 1.0;
  }
  for (std::size_t rank = 0; rank < std::min(cpus.size(), threads.size()); ++rank) {
    CrowdedCores& all = of_host.at(profile.rank_host[rank]);
    all.cores = cpus[rank];
    if (threads[rank] > 1.0 && cpus[rank] >= 1.0 && all.threads > cpus[rank] + more) return all;
  }
  return std::nullopt;
}

bool has_more_threads_than_cores(const Profile& profile) { return crowded_cores(profile).has_value(); }

bool cpu_waits_are_of_others(const Profile& profile) {
  return !has_more_ranks_than_cores(profile) && !has_more_threads_than_cores(profile);
}

namespace {

double largest_known(const std::vector<double>& of_ranks) {
  double largest = 0.0;
  for (const double value : of_ranks) largest = value > largest ? value : largest;  // NaN is not above
  return largest;
}

// Of a busy thread beside the one that calls MPI, on average over those of a rank: they may all have waited at the same
// time.
double longest_wait_of_others(const Profile& profile) {
  const std::vector<double>& of_others = profile.evidence[index_of(Evidence::cpu_wait_of_others)];
  const std::vector<double>& threads = profile.evidence[index_of(Evidence::busy_threads)];
  double longest = 0.0;
  for (std::size_t rank = 0; rank < std::min(of_others.size(), threads.size()); ++rank) {
    if (!(threads[rank] >= 1.5)) continue;  // no other thread was busy for long
    const double of_one = of_others[rank] / std::max(1.0, threads[rank] - 1.0);
    longest = of_one > longest ? of_one : longest;  // NaN is not above
  }
  return longest;
}

}  // namespace

// The waits of a rank's own thread and of the one beside it may follow each other.
double longest_wait_for_cpu(const Profile& profile) {
  return largest_known(profile.evidence[index_of(Evidence::cpu_wait)]) + longest_wait_of_others(profile);
}

double most_work_beyond_least(const Profile& profile) {
  return largest_known(profile.evidence[index_of(Evidence::work_beyond_least)]);
}

double most_side_by_side(const Profile& profile) {
  return largest_known(profile.evidence[index_of(Evidence::side_by_side)]);
}

double own_waiting_seconds(const Profile& profile, const Breakdown& breakdown) {
  const std::vector<double>& waits = profile.evidence[index_of(Evidence::cpu_wait)];
  double seconds = 0.0;
  for (const RankShare& rank : breakdown.ranks) {
    if (rank.rank >= waits.size() || std::isnan(waits[rank.rank])) continue;
    // What it waited in other segments says nothing of those that took longer.
    const double waited = profile.lost_to_cpu_wait.empty() ? waits[rank.rank] : 0.0;
    seconds += std::max(0.0, rank.slept_seconds - waited);
  }
  return seconds;
}

double lost_to_cpu_waits(const Profile& profile) {
  if (!cpu_waits_are_of_others(profile)) return 0.0;
  const double own = profile.lost_to_cpu_wait.empty() ? largest_known(profile.evidence[index_of(Evidence::cpu_wait)])
                                                      : length_of(profile.lost_to_cpu_wait);
  return std::max(own, longest_wait_of_others(profile));
}

}  // namespace halcyon
