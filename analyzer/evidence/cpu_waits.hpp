// What the operating system says about waits for a CPU, and about what ran beside the ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A thread more, on average over a run, in which it may have slept now and then.
inline constexpr double busy_beside = 0.5;

/// What the operating system counted for a rank; NaN if it is not known.
double evidence_of(const Profile& profile, Evidence which, std::size_t rank);
/// Of the ranks that are bound to the same cores, or else of all ranks of a host.
bool has_more_ranks_than_cores(const Profile& profile);
/// More busy threads than cores: those of one rank that is bound, or of all ranks on the same cores.
struct CrowdedCores {
  std::string host;
  std::optional<std::size_t> bound_rank;
  std::size_t ranks = 1;
  double threads = 0.0;  // of these ranks together that were busy at a time
  double cores = 0.0;
};
/// Where the threads of a rank that were busy at a time are more than the CPUs to which it is bound, or else those of
/// all ranks of a host more than its CPUs. Nothing if a recorder before schema version 5 did not count them.
std::optional<CrowdedCores> crowded_cores(const Profile& profile);
bool has_more_threads_than_cores(const Profile& profile);
std::string in_words(const CrowdedCores& crowded, const Profile& profile);
/// Whether what waited for a CPU did so because of others: the program has neither more ranks nor more busy threads
/// than CPUs, which would take them from each other.
bool cpu_waits_are_of_others(const Profile& profile);
/// How long a rank may have been ready to run while others had the CPU, in s: the longest such wait of a thread that
/// calls MPI, and of a busy thread beside it. 0 if the kernel does not say.
double longest_wait_for_cpu(const Profile& profile);
/// How long a rank slept, in s, at most: its time off the CPU less all its waits for one. Infinite if that is not
/// known.
double slept_at_most(const Profile& profile, std::size_t rank);
/// How long a rank may have waited for CPUs that other ranks or threads of the run had, in s: at most. 0 if the run has
/// no more of them than CPUs.
double waited_for_own_threads(const Profile& profile);
/// What is left of the longest wait: for others, in s, at most.
double waited_for_others_at_most(const Profile& profile);
/// How long nothing may have gone on since some rank waited for a CPU that others had, in s: ranks that wait for each
/// other go on only while none of them waits. As if they waited independently of each other, of those that waited for
/// more than `noticeable_share` of the run: rarer waits leave segments without one, and durations show them. 0 if the run has more ranks or threads than CPUs.
double stood_still_at_most(const Profile& profile, double noticeable_share);
/// How long a rank may have waited for CPUs that child processes of ranks of its host had, in s: at most.
double waited_for_children(const Profile& profile);
/// By how much the threads that end segments did more than the least of the busy threads, on the rank where this is
/// most, in s: they spun for a delayed thread, or their own work was more.
double most_work_beyond_least(const Profile& profile);
/// By how much the threads of a rank that ended segments at the same time were busy beyond these, on the rank where
/// this is most, in s: a segment of one hides so much of the delays of another.
double most_side_by_side(const Profile& profile);
/// The share of the run in which some process of a host waited for a CPU, on the host where this is most: what ran
/// there shared caches and memory with the ranks. 0 if the kernel does not say.
double share_on_busy_hosts(const Profile& profile);
/// How long a hypervisor kept CPUs of a host from it, in s, on the host where this is most. The kernel may count it as
/// CPU time of whoever was running. 0 if it does not say.
struct Stolen {
  double from_one_cpu = 0.0;  // on average
  double at_most = 0.0;       // from all, as ranks may have waited for each other's; no more than the run
};
Stolen stolen_time(const Profile& profile);
/// Whether threads were busy beside those that call MPI: while one is delayed, that which is counted may spin for it.
bool has_busy_threads(const Profile& profile);
/// How long nothing went on since all ranks waited at the same time for CPUs that others had, in s: at least. By
/// Bonferroni's inequality, the waits of n ranks that add up to more than n - 1 times the run overlap by the rest.
/// Threads that do not call MPI may have gone on meanwhile, for as long as they used the CPU. 0 if the kernel does not
/// say.
double all_waited_for_cpu(const Profile& profile);
/// How much the run lost, at least, because busy threads waited for a CPU that others had, in s. 0 if the kernel does
/// not say.
double lost_to_cpu_waits(const Profile& profile);

}  // namespace halcyon
