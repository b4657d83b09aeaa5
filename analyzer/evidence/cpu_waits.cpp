#include "analyzer/evidence/cpu_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/evidence/time_shares.hpp"
#include "analyzer/groups/timeline.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {

double evidence_of(const Profile& profile, Evidence which, std::size_t rank) {
  const std::vector<double>& values = profile.evidence[index_of(which)];
  return rank < values.size() ? values[rank] : std::nan("");
}

namespace {

// Ranks that run on the same CPUs: those that are bound to the same ones, or else all of a host.
struct SharedCores {
  std::vector<std::size_t> ranks;
  double threads = 0.0;           // that were busy at a time
  bool has_busy_threads = false;  // besides those that call MPI
  double cores = 0.0;             // NaN if not known
  double cpu_time = 0.0;          // of all threads, s; NaN if not known
};

std::vector<SharedCores> shared_cores(const Profile& profile) {
  std::map<std::pair<std::string, std::pair<double, double>>, SharedCores> shared;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double cpus = evidence_of(profile, Evidence::cpus, rank);
    const double own = evidence_of(profile, Evidence::own_cpus, rank);
    const double first = evidence_of(profile, Evidence::first_cpu, rank);
    const bool is_bound = own >= 1.0 && own < cpus && first >= 0.0;
    const std::pair which = is_bound ? std::pair(first, own) : std::pair(-1.0, -1.0);
    const SharedCores none{.cores = is_bound ? own : cpus};
    SharedCores& one = shared.try_emplace({profile.rank_host[rank], which}, none).first->second;
    const double threads = evidence_of(profile, Evidence::busy_threads, rank);
    one.ranks.push_back(rank);
    one.threads += threads > 1.0 ? threads : 1.0;
    one.has_busy_threads = one.has_busy_threads || threads > 1.0;
    one.cpu_time += evidence_of(profile, Evidence::cpu_time, rank);
  }
  std::vector<SharedCores> all;
  for (const auto& [which, one] : shared) all.push_back(one);
  return all;
}

bool has_more_ranks(const SharedCores& one) {
  return one.cores >= 1.0 && static_cast<double>(one.ranks.size()) > one.cores;
}

// NaN is not more.
bool has_more_threads(double threads, double cores) {
  return threads > 1.0 && cores >= 1.0 && threads > cores + busy_beside;
}

}  // namespace

bool has_more_ranks_than_cores(const Profile& profile) {
  return std::ranges::any_of(shared_cores(profile), has_more_ranks);
}

std::optional<CrowdedCores> crowded_cores(const Profile& profile) {
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {  // NaN is not above
    const double threads = evidence_of(profile, Evidence::busy_threads, rank);
    const double own = evidence_of(profile, Evidence::own_cpus, rank);
    if (has_more_threads(threads, own)) {
      return CrowdedCores{.host = profile.rank_host[rank], .bound_rank = rank, .threads = threads, .cores = own};
    }
  }
  for (const SharedCores& one : shared_cores(profile)) {
    if (one.has_busy_threads && has_more_threads(one.threads, one.cores)) {
      return CrowdedCores{.host = profile.rank_host[one.ranks.front()],
                          .bound_rank = std::nullopt,
                          .ranks = one.ranks.size(),
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
double wait_of_others(const Profile& profile, std::size_t rank) {
  const double threads = evidence_of(profile, Evidence::busy_threads, rank);
  if (!(threads >= 1.0 + busy_beside)) return 0.0;  // no other thread was busy for long
  const double of_one = evidence_of(profile, Evidence::cpu_wait_of_others, rank) / std::max(1.0, threads - 1.0);
  return of_one > 0.0 ? of_one : 0.0;  // NaN is not above
}

double longest_wait_of_others(const Profile& profile) {
  double longest = 0.0;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    longest = std::max(longest, wait_of_others(profile, rank));
  }
  return longest;
}

// The waits of a rank's own thread and of the one beside it may follow each other.
double wait_for_cpu(const Profile& profile, std::size_t rank) {
  const double own = evidence_of(profile, Evidence::cpu_wait, rank);
  return std::min(profile.run_time_seconds, (own > 0.0 ? own : 0.0) + wait_of_others(profile, rank));
}

}  // namespace

double all_waited_for_cpu(const Profile& profile) {
  if (profile.rank_host.empty()) return 0.0;
  double overlap = profile.run_time_seconds;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double wait = evidence_of(profile, Evidence::cpu_wait, rank);
    const double on_cpu = profile.run_time_seconds - evidence_of(profile, Evidence::off_cpu, rank);
    const double of_others = evidence_of(profile, Evidence::cpu_time, rank) - on_cpu;
    const bool is_known = wait >= 0.0 && (!std::isnan(of_others) || !has_busy_threads(profile));
    if (!is_known) return 0.0;
    overlap -= profile.run_time_seconds - wait + std::max(0.0, of_others);  // NaN is not above
  }
  return std::max(0.0, overlap - waited_for_children(profile));
}

double longest_wait_for_cpu(const Profile& profile) {
  double longest = 0.0;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    longest = std::max(longest, wait_for_cpu(profile, rank));
  }
  return longest;
}

// While a thread waits for others of the run, these have all its cores: for no longer than what they did in all takes
// on so many cores. Older profiles do not say what they did.
double waited_for_own_threads(const Profile& profile) {
  double longest = 0.0;
  const auto add = [&](std::size_t rank, double cpu_time, double cores) {
    const double own = profile.rank_run_time[rank] - evidence_of(profile, Evidence::off_cpu, rank);
    const double of_others = (cpu_time - own) / cores;
    const double waited = wait_for_cpu(profile, rank);
    longest = std::max(longest, of_others < waited ? std::max(0.0, of_others) : waited);  // NaN is not below
  };
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double cores = evidence_of(profile, Evidence::own_cpus, rank);
    if (has_more_threads(evidence_of(profile, Evidence::busy_threads, rank), cores)) {
      add(rank, evidence_of(profile, Evidence::cpu_time, rank), cores);
    }
  }
  for (const SharedCores& one : shared_cores(profile)) {
    const bool is_crowded = has_more_ranks(one) || (one.has_busy_threads && has_more_threads(one.threads, one.cores));
    for (const std::size_t rank : one.ranks) {
      if (is_crowded) add(rank, one.cpu_time, one.cores);
    }
  }
  return longest;
}

double waited_for_others_at_most(const Profile& profile) {
  return std::max(0.0, longest_wait_for_cpu(profile) - waited_for_own_threads(profile));
}

double stood_still_at_most(const Profile& profile, double noticeable_share) {
  if (!cpu_waits_are_of_others(profile)) return 0.0;
  double goes_on = 1.0;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double share = wait_for_cpu(profile, rank) / profile.run_time_seconds;
    if (share > noticeable_share) goes_on *= 1.0 - share;  // NaN is not above
  }
  return profile.run_time_seconds * (1.0 - goes_on);
}

// A child that a rank sleeps for takes no core from it.
double waited_for_children(const Profile& profile) {
  struct OfHost {
    double used = 0.0;
    double waited = 0.0;
  };
  std::map<std::string, OfHost> hosts;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    OfHost& host = hosts[profile.rank_host[rank]];
    const double used = evidence_of(profile, Evidence::children_cpu, rank);
    host.used += used > 0.0 ? used : 0.0;
    host.waited = std::max(host.waited, wait_for_cpu(profile, rank));
  }
  const std::optional<TimeShares> shares = time_shares(profile);
  const double asleep = shares ? shares->asleep_seconds : 0.0;
  double longest = 0.0;
  for (const auto& [name, host] : hosts) longest = std::max(longest, std::min(host.used - asleep, host.waited));
  return longest;
}

double most_work_beyond_least(const Profile& profile) {
  return largest_known(profile.evidence[index_of(Evidence::work_beyond_least)]);
}

double most_side_by_side(const Profile& profile) {
  return largest_known(profile.evidence[index_of(Evidence::side_by_side)]);
}

double share_on_busy_hosts(const Profile& profile) {
  if (!(profile.run_time_seconds > 0.0)) return 0.0;
  return std::min(1.0, largest_known(profile.evidence[index_of(Evidence::cpu_pressure)]) / profile.run_time_seconds);
}

double slept_at_most(const Profile& profile, std::size_t rank) {
  const double slept = evidence_of(profile, Evidence::off_cpu, rank) - evidence_of(profile, Evidence::cpu_wait, rank);
  return std::isnan(slept) ? std::numeric_limits<double>::infinity() : std::max(0.0, slept);
}

Stolen stolen_time(const Profile& profile) {
  Stolen most;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double stolen = evidence_of(profile, Evidence::steal, rank);
    const double cpus = evidence_of(profile, Evidence::cpus, rank);
    if (!(stolen > most.at_most)) continue;  // NaN is not above
    most = {.from_one_cpu = cpus >= 1.0 ? stolen / cpus : stolen, .at_most = stolen};
  }
  return {.from_one_cpu = std::min(most.from_one_cpu, profile.run_time_seconds),
          .at_most = std::min(most.at_most, profile.run_time_seconds)};
}

bool has_busy_threads(const Profile& profile) {
  return largest_known(profile.evidence[index_of(Evidence::busy_threads)]) >= 1.0 + busy_beside;
}

double lost_to_cpu_waits(const Profile& profile) {
  const double own = profile.lost_to_cpu_wait.empty() ? largest_known(profile.evidence[index_of(Evidence::cpu_wait)])
                                                      : length_of(profile.lost_to_cpu_wait);
  return std::max(0.0, std::max(own, longest_wait_of_others(profile)) - waited_for_own_threads(profile) -
                           waited_for_children(profile));
}

}  // namespace halcyon
