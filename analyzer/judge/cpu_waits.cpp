#include "analyzer/judge/cpu_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/groups/timeline.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {

double evidence_of(const Profile& profile, Evidence which, std::size_t rank) {
  const std::vector<double>& values = profile.evidence[index_of(which)];
  return rank < values.size() ? values[rank] : std::nan("");
}

namespace {

// Ranks that run on the same CPUs: those that are bound to the same ones, or else all of a host. Those of a host with a
// limit share the CPUs that it lets them use at a time, too.
struct SharedCores {
  std::size_t first_rank = 0;
  std::size_t ranks = 0;
  double threads = 0.0;           // that were busy at a time
  bool has_busy_threads = false;  // besides those that call MPI
  double cores = 0.0;             // NaN if not known
};

std::vector<SharedCores> shared_cores(const Profile& profile) {
  enum class By { binding, host, limit };
  std::map<std::tuple<std::string, By, double, double>, SharedCores> shared;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double threads = evidence_of(profile, Evidence::busy_threads, rank);
    const auto share = [&](By by, double cores, double first) {
      const SharedCores none{.first_rank = rank, .cores = cores};
      const std::tuple which(profile.rank_host[rank], by, by == By::binding ? cores : 0.0, first);
      SharedCores& one = shared.try_emplace(which, none).first->second;
      ++one.ranks;
      one.threads += threads > 1.0 ? threads : 1.0;
      one.has_busy_threads = one.has_busy_threads || threads > 1.0;
    };
    const double cpus = evidence_of(profile, Evidence::cpus, rank);
    const double own = evidence_of(profile, Evidence::own_cpus, rank);
    const double first = evidence_of(profile, Evidence::first_cpu, rank);
    const double limit = evidence_of(profile, Evidence::cpu_limit, rank);
    const bool is_bound = own >= 1.0 && own < cpus && first >= 0.0;
    share(is_bound ? By::binding : By::host, is_bound ? own : cpus, is_bound ? first : 0.0);
    if (limit > 0.0) share(By::limit, limit, 0.0);
  }
  std::vector<SharedCores> all;
  for (const auto& [which, one] : shared) all.push_back(one);
  return all;
}

constexpr double more_threads = 0.5;  // a mean over the run, in which a thread may have slept now and then

}  // namespace

bool has_more_ranks_than_cores(const Profile& profile) {
  return std::ranges::any_of(shared_cores(profile), [](const SharedCores& one) {
    return one.cores > 0.0 && static_cast<double>(one.ranks) > one.cores;
  });
}

std::optional<CrowdedCores> crowded_cores(const Profile& profile) {
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {  // NaN is not above
    const double threads = evidence_of(profile, Evidence::busy_threads, rank);
    const double own = evidence_of(profile, Evidence::own_cpus, rank);
    if (threads > 1.0 && threads > own + more_threads) {
      return CrowdedCores{.host = profile.rank_host[rank], .bound_rank = rank, .threads = threads, .cores = own};
    }
  }
  for (const SharedCores& one : shared_cores(profile)) {
    if (one.has_busy_threads && one.cores > 0.0 && one.threads > one.cores + more_threads) {
      return CrowdedCores{.host = profile.rank_host[one.first_rank],
                          .bound_rank = std::nullopt,
                          .ranks = one.ranks,
                          .threads = one.threads,
                          .cores = one.cores};
    }
  }
  return std::nullopt;
}

std::string in_words(const CrowdedCores& crowded, const Profile& profile) {
  const std::string cores = fmt::format("{:.3g} {}", crowded.cores, crowded.cores == 1.0 ? "core" : "cores");
  if (crowded.bound_rank) {
    return fmt::format("rank {} with {:.1f} busy threads was bound to {}", *crowded.bound_rank, crowded.threads, cores);
  }
  const double each = crowded.threads / static_cast<double>(crowded.ranks);
  return fmt::format("{} with {:.1f} busy threads{} ran on {}{}", plural(crowded.ranks, "rank"), each,
                     crowded.ranks == 1 ? "" : " each", cores, profile.hosts().size() > 1 ? " of " + crowded.host : "");
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

double waited_for_own_threads(const Profile& profile) {
  return cpu_waits_are_of_others(profile) ? 0.0 : longest_wait_for_cpu(profile);
}

double waited_for_children(const Profile& profile) {
  double used = 0.0;
  for (const double seconds : profile.evidence[index_of(Evidence::children_cpu)]) used += seconds > 0.0 ? seconds : 0.0;
  return std::min(used, longest_wait_for_cpu(profile));
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
  return std::max(0.0, std::max(own, longest_wait_of_others(profile)) - waited_for_children(profile));
}

}  // namespace halcyon
