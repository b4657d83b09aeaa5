#include "analyzer/attribution/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "analyzer/attribution/retransmissions.hpp"
#include "analyzer/attribution/time_pattern.hpp"
#include "analyzer/evidence/cpu_waits.hpp"
#include "analyzer/evidence/witnessed.hpp"
#include "analyzer/machine/background.hpp"
#include "libprofile/system/listed_word.hpp"

namespace halcyon {
namespace {

// Shares of the excess. What explains less than the first is not its cause. The second is enough of what something else
// must confirm: that ranks were off the CPU, or that slow stretches explain the rest.
constexpr double least_share_of_cause = 0.5;
constexpr double least_share_confirmed = 0.3;
// What has less is not worth a word.
constexpr double least_worth_a_word = 0.05;
constexpr double seconds_of_major_fault = 5e-3;  // to read a page back from a disk
// Among fewer ranks, one has most of the excess by chance.
constexpr int fewest_ranks_to_single_one_out = 3;

// The first sentence of an action is for a line that has little room.
constexpr std::array<CauseInfo, 19> infos{{
    {"more-ranks-than-cores", "Start no more ranks than cores. Their threads count, too: measure again with fewer."},
    {"more-threads-than-cores",
     "Give each thread a core of its own. Bind each rank to as many cores as it has threads (mpirun --map-by "
     "slot:PE=THREADS, srun --cpus-per-task), or set OMP_NUM_THREADS and the like lower."},
    {"cpu-limit",
     "Have the limit on CPU time raised. It is the container's (cpu.max) or the batch system's (CPUs per task); or "
     "start fewer ranks or threads."},
    {"own-children",
     "Leave a core to the child processes. Or count what they take as the program's time: they are its own."},
    {"other-processes",
     "Measure again on free cores. Find out what else ran on these (top, halcyon witness, records of the batch system)."},
    {"hypervisor-steal", "Measure again on a less shared host. Ask the provider of the virtual machines for dedicated cores."},
    {"memory-pressure",
     "Use fewer ranks per host or a smaller case. Check what else fills the memory (free, top)."},
    {"file-io",
     "Measure again later, or write to a local disk. Check who else used the file system at that time, unless the "
     "program itself wrote so much (halcyon info); write less often."},
    {"device",
     "Measure again on free devices. Find out who else used them and at which clock rate they ran (nvidia-smi, "
     "rocm-smi, xpu-smi), and whether "
     "the kernels of these steps had more to do."},
    {"start-up", "Leave out the start, or run longer."},
    {"network",
     "Measure again on neighbouring hosts. Check what other jobs sent over the network, and whether a link is slow."},
    {"communication",
     "Measure again on an idle host. There is no network between these ranks: check what else used the host's cores "
     "and memory."},
    {"slow-host",
     "Measure again without that host. Have its clock rate, temperature and memory checked, and find out who shares it."},
    {"slow-rank",
     "Bind that rank to another core. Check what shares the core that it ran on (interrupts, a busy sibling thread)."},
    {"slow-machine",
     "Measure again at a fixed clock rate. Check clock rate and temperature (cpupower, turbostat) and what shares the "
     "memory."},
    {"slower-computation",
     "Compare with another run of the same input. That tells a slower machine from more work (halcyon compare); so does "
     "one run with a hardware counter: halcyon doctor says whether there is one."},
    {"own-variation",
     "Quote the mean of several runs. The cause is not outside the program: compare runs of the same input."},
    {"own-waiting",
     "Find out what the program waits for. It may be locks, sleeps or mapped files: if others share it, measure again "
     "when it is free."},
    {"unclear", "Compare with a run on an idle host. See where the time went (halcyon compare)."},
}};

constexpr std::array<std::string_view, infos.size()> cause_codes = [] {
  std::array<std::string_view, infos.size()> all{};
  std::transform(infos.begin(), infos.end(), all.begin(), [](const CauseInfo& info) { return info.code; });
  return all;
}();

// NaN is not known.
double sum_of_known(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value > 0.0 ? value : 0.0;
  return sum;
}

bool are_known_of(const std::vector<RankShare>& ranks, const std::vector<double>& values) {
  return !values.empty() && std::all_of(ranks.begin(), ranks.end(),
                                        [&values](const RankShare& rank) { return std::isfinite(values[rank.rank]); });
}

/// Shares of the excess that each kind of evidence could explain.
struct Shares {
  double off_cpu = 0.0;
  double waiting_for_cpu = 0.0;      // ready to run, on a CPU that others had
  bool is_of_other_threads = false;  // the most of that
  double most_waiting = 0.0;  // the same at most: a wait within MPI may have made another rank's next segment longer
  double blocked = 0.0;       // off the CPU and not ready: asleep, or waiting for something else
  double stolen = 0.0;
  double paging = 0.0;
  SecondsByKind kinds{};  // shares, not seconds

  double of(ExcessKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  double of_communication() const { return of(ExcessKind::point_to_point) + of(ExcessKind::collective); }
};

const std::vector<double>& evidence_of(const Profile& profile, Evidence which) {
  return profile.evidence[index_of(which)];
}

double seconds_of_hosts(const Profile& profile, Evidence which) { return sum_of_known(profile.by_host(which)); }

// Adds what the kernel says of the waits of the ranks that held the others up. `shares.off_cpu` must be known.
void add_known_waits(const Profile& profile, const Breakdown& breakdown, Shares& shares) {
  const double all = breakdown.seconds;
  const bool is_known_of_segments = !profile.lost_to_cpu_wait.empty();
  double waited = 0.0;
  double most_waited = 0.0;
  double blocked = 0.0;
  for (const RankShare& rank : breakdown.ranks) {
    const double in_all = evidence_of(profile, Evidence::cpu_wait)[rank.rank];
    const double wait = is_known_of_segments ? rank.waited_seconds : in_all;
    waited += std::clamp(rank.seconds, 0.0, wait);
    most_waited += std::clamp(rank.seconds, 0.0, in_all);
    // What segments lost to waits is known to be lost, at least. Of its time off the CPU, a rank slept no more than
    // what is left of all its waits.
    blocked += std::min(std::max(0.0, rank.off_cpu_seconds - wait), slept_at_most(profile, rank.rank));
  }
  // Where the other threads of a rank wait, the rank waits in its computation, or for a device that is one of them.
  const double others = sum_of_known(evidence_of(profile, Evidence::cpu_wait_of_others));
  if (is_known_of_segments) {
    // What segments lost does not say which threads waited. The totals do.
    shares.waiting_for_cpu = waited / all;
    shares.is_of_other_threads = others > sum_of_known(evidence_of(profile, Evidence::cpu_wait));
  } else if (shares.off_cpu >= least_share_confirmed) {
    shares.waiting_for_cpu = std::min(waited / all, shares.off_cpu);
  }
  const double computing = breakdown.kinds[static_cast<std::size_t>(ExcessKind::computation)] +
                           breakdown.kinds[static_cast<std::size_t>(ExcessKind::device)];
  if (const double share = std::min(others, computing) / all; share > shares.waiting_for_cpu && waited < computing) {
    shares.waiting_for_cpu = share;
    shares.is_of_other_threads = true;
  }
  shares.most_waiting = most_waited / all;
  shares.blocked = blocked / all;
}

Shares shares_of(const Profile& profile, const Breakdown& breakdown) {
  Shares shares;
  const double all = breakdown.seconds;
  shares.off_cpu = breakdown.off_cpu_seconds.value_or(0.0) / all;
  if (are_known_of(breakdown.ranks, evidence_of(profile, Evidence::cpu_wait))) {
    add_known_waits(profile, breakdown, shares);
  }
  shares.stolen = seconds_of_hosts(profile, Evidence::steal) / all;
  shares.paging = std::min(seconds_of_major_fault * sum_of_known(evidence_of(profile, Evidence::major_faults)),
                           seconds_of_hosts(profile, Evidence::memory_pressure)) /
                  all;
  for (std::size_t i = 0; i < excess_kind_count; ++i) shares.kinds[i] = breakdown.kinds[i] / all;
  return shares;
}

const HostShare* host_alone(const Profile& profile, const Breakdown& breakdown) {
  if (breakdown.hosts.empty()) return nullptr;
  const HostShare& worst = breakdown.hosts.front();
  return profile.hosts().size() > 1 && worst.seconds >= nearly_all * breakdown.seconds ? &worst : nullptr;
}

const RankShare* rank_alone(const Breakdown& breakdown) {
  const RankShare& worst = breakdown.ranks.front();
  return worst.seconds >= nearly_all * breakdown.seconds ? &worst : nullptr;
}

// The ranks that the excess is of, to be put behind a preposition.
std::string where(const Profile& profile, const Breakdown& breakdown) {
  const std::vector<std::string> hosts = profile.hosts();
  if (const RankShare* rank = rank_alone(breakdown)) {
    return profile.where_it_ran(rank->rank);
  }
  if (const HostShare* host = host_alone(profile, breakdown)) return "the ranks on " + host->host;
  return hosts.size() == 1 ? "the ranks on " + hosts.front() : "the ranks";
}

// The share of the excess in which the program did more work, by a hardware counter.
double share_of_more_work(const Profile& profile, const Grouping& grouping, const LostTime& lost) {
  const FeatureColumn& work = work_of(profile, grouping);
  if (profile.counter.substr(0, 5) != "papi:" || work.bins.size() < 2) return 0.0;
  double explained = 0.0;
  for (const JudgedGroup& group : lost.groups) {
    const std::span<const std::uint32_t> members = grouping.members(group.group);
    double usual = 0.0;
    double calm = 0.0;
    for (const std::uint32_t segment : members) {
      if (profile.duration[segment] > static_cast<float>(group.threshold_seconds)) continue;
      usual += work.bins[work.bin_of(segment)];
      calm += 1.0;
    }
    if (!(usual > 0.0)) continue;
    usual /= calm;
    for (const std::uint32_t segment : members) {
      const double more = work.bins[work.bin_of(segment)] / usual - 1.0;
      const double excess = static_cast<double>(lost.excess[segment]);
      explained += std::clamp(more * group.baseline_seconds, 0.0, std::max(excess, 0.0));
    }
  }
  return explained / lost.breakdown.seconds;
}

// A disturbed run, with what its causes are told from.
struct DisturbedRun {
  const Profile& profile;
  const Breakdown& breakdown;
  Shares shares;
  TimePattern pattern;
  std::string of_whom;

  Cause cause(ListedWord<cause_codes> code, const std::string& text) const {
    const auto info =
        std::find_if(infos.begin(), infos.end(), [code](const CauseInfo& one) { return one.code == code.view(); });
    return Cause{info->code, text + ", " + in_words(pattern), info->action};
  }
};

std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * std::clamp(share, 0.0, 1.0)); }

bool is_cause(double share) { return share >= least_share_of_cause; }

// The share of the ranks' waits for a CPU in which limits may have held them back.
double share_of_limits(const Profile& profile) {
  double waits = 0.0;
  double throttled = 0.0;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    const double wait = sum_of_known(
        {evidence_of(profile, Evidence::cpu_wait, rank), evidence_of(profile, Evidence::cpu_wait_of_others, rank)});
    waits += wait;
    throttled += std::min(wait, sum_of_known({evidence_of(profile, Evidence::throttled, rank)}));
  }
  return waits > 0.0 ? throttled / waits : 0.0;
}

std::string cpus_of_limit(const Profile& profile) {
  double least = std::numeric_limits<double>::infinity();
  for (const double limit : evidence_of(profile, Evidence::cpu_limit)) least = limit < least ? limit : least;
  return std::isfinite(least) ? fmt::format(", to {:.3g} {} at a time", least, least == 1.0 ? "CPU" : "CPUs") : "";
}

// `how_long`: what share of the lost time.
Cause cause_of_waits_for_cpu(const DisturbedRun& run, const std::string& how_long) {
  const std::string waited = (run.shares.is_of_other_threads ? "other threads of " : "") + run.of_whom +
                             " waited for a CPU for " + how_long + " of the lost time";
  if (is_cause(waited_for_children(run.profile) / run.breakdown.seconds)) {
    return run.cause("own-children",
                     fmt::format("child processes of the ranks used {:.2g} s of CPU time: {}",
                                 sum_of_known(evidence_of(run.profile, Evidence::children_cpu)), waited));
  }
  if (is_cause(share_of_limits(run.profile))) {
    return run.cause("cpu-limit",
                     fmt::format("a limit on CPU time held the ranks back{}: {}", cpus_of_limit(run.profile), waited));
  }
  // A crowded run may also be beside others, who took more from it than it took from itself.
  const bool is_of_own = waited_for_own_threads(run.profile) >= waited_for_others_at_most(run.profile);
  if (is_of_own && has_more_ranks_than_cores(run.profile)) {
    return run.cause("more-ranks-than-cores", "more ranks than cores: " + waited);
  }
  if (is_of_own && has_more_threads_than_cores(run.profile)) {
    return run.cause("more-threads-than-cores", "more busy threads than cores: " + waited);
  }
  Cause cause = run.cause("other-processes", "other processes on the same cores: " + waited);
  if (const std::string who = who_had_the_cpus(run.profile); !who.empty()) cause.text += "; their CPUs had " + who;
  return cause;
}

// What the operating system or the hypervisor says. `delays`: share of the excess that is not in slow stretches. Others
// on the same cores slow them down as well, so slow stretches speak neither for that nor against it.
std::optional<Cause> cause_by_the_system(const DisturbedRun& run, double delays) {
  if (is_cause(run.shares.waiting_for_cpu) || (run.shares.waiting_for_cpu >= least_share_confirmed &&
                                               run.shares.waiting_for_cpu >= least_share_of_cause * delays)) {
    return cause_of_waits_for_cpu(run, percent(run.shares.waiting_for_cpu));
  }
  if (is_cause(run.shares.stolen)) {
    return run.cause("hypervisor-steal", fmt::format("the hypervisor took CPU time from the hosts: {} of the lost time",
                                                     percent(run.shares.stolen)));
  }
  if (is_cause(run.shares.paging) && run.shares.blocked >= least_share_confirmed) {
    return run.cause("memory-pressure", "too little memory: pages were read back from disk");
  }
  return std::nullopt;
}

Cause cause_in_communication(const DisturbedRun& run) {
  const bool is_one_host = run.profile.hosts().size() <= 1;
  const double point_to_point = run.shares.of(ExcessKind::point_to_point);
  const double collective = run.shares.of(ExcessKind::collective);
  const bool is_both = std::min(point_to_point, collective) >= least_worth_a_word;
  const std::string which = is_both ? "" : point_to_point >= collective ? "point-to-point " : "collective ";
  const std::string apart =
      is_both ? fmt::format(" (point-to-point {}, collective {})", percent(point_to_point), percent(collective)) : "";
  std::string text =
      fmt::format("slow {}communication of {}: {} of the lost time was in communication calls{}{}", which, run.of_whom,
                  percent(run.shares.of_communication()), apart, is_one_host ? ", within one host" : "");
  if (const std::optional<RetransmittingHost> most = most_retransmitting(run.profile)) {
    text += fmt::format(
        ", and {} made {:.0f} of {:.0f} TCP retransmissions (its link, or a link that it sends over, "
        "loses or delays messages)",
        most->host, most->own, most->all);
  }
  return is_one_host ? run.cause("communication", text) : run.cause("network", text);
}

// A rank was slower than its peers all the time.
std::optional<Cause> cause_among_peers(const DisturbedRun& run, const LostTime& lost) {
  const auto slow = std::ranges::find(lost.slower, Whose::machine, &RankBehind::whose);
  if (slow == lost.slower.end() || !is_cause(lost.slow_ranks_seconds / std::max(lost.seconds, lost.slow_ranks_seconds)))
    return std::nullopt;
  return run.cause("slow-rank",
                   fmt::format("{} slow {}: {} took {:.2f} times as long as its peers for the same work",
                               lost.slower.size() == 1 ? "one" : "some", lost.slower.size() == 1 ? "rank" : "ranks",
                               run.profile.where_it_ran(slow->rank), slow->times));
}

// Beside what a rank slept: of the children that it may have waited for, and of others on its cores.
std::string what_others_took(const Profile& profile, double lost_seconds) {
  const double least = least_worth_a_word * lost_seconds;
  std::string words;
  if (const double used = sum_of_known(evidence_of(profile, Evidence::children_cpu)); used >= least) {
    words += fmt::format(", while its child processes used {:.2g} s of CPU time", used);
  }
  if (const double lost = lost_to_cpu_waits(profile); lost >= least) {
    words += fmt::format("; besides, others had the cores for at least {:.2g} s", lost);
  }
  return words;
}

// Computation took longer.
Cause cause_in_computation(const DisturbedRun& run, const Grouping& grouping, const LostTime& lost) {
  if (is_cause(run.shares.blocked)) {
    return run.cause(
        "own-waiting",
        fmt::format("{} slept or waited outside calls of MPI, files and devices for {} of the lost "
                    "time{}",
                    run.of_whom, percent(run.shares.blocked), what_others_took(run.profile, run.breakdown.seconds)));
  }
  if (is_cause(run.shares.off_cpu)) {  // nobody says for what it waited
    return run.cause("unclear", fmt::format("{} did not run for {} of the lost time, and the kernel does not say why",
                                            run.of_whom, percent(run.shares.off_cpu)));
  }
  if (is_cause(share_of_more_work(run.profile, grouping, lost))) {
    return run.cause("own-variation", "the program's own variation: the longer segments did more work");
  }
  if (const HostShare* host = host_alone(run.profile, run.breakdown)) {
    return run.cause("slow-host",
                     fmt::format("one slow host: {} was lost by {}, and half or more of all in computation",
                                 percent(host->seconds / run.breakdown.seconds), run.of_whom));
  }
  const RankShare* rank = rank_alone(run.breakdown);
  if (rank != nullptr && run.profile.ranks >= fewest_ranks_to_single_one_out) {
    return run.cause("slow-rank",
                     fmt::format("one slow rank: {} was lost by {}, and half or more of all in computation",
                                 percent(rank->seconds / run.breakdown.seconds), run.of_whom));
  }
  const std::optional<Background> background = background_of(run.profile);
  const bool is_slow =
      background && 0.01 * background->percent() * run.profile.run_time_seconds >= least_share_of_cause * lost.seconds;
  if (is_slow || run.profile.counter.substr(0, 5) == "papi:") {
    return run.cause("slow-machine", "slow cores or memory: computation took longer although the ranks were running");
  }
  return run.cause(
      "slower-computation",
      "computation took longer although the ranks were running: either the machine was slower or the program did more "
      "work");
}

}  // namespace

std::span<const CauseInfo> cause_infos() { return infos; }

std::optional<Cause> likely_cause(const Profile& profile, const Grouping& grouping, const LostTime& lost) {
  const Breakdown& breakdown = lost.breakdown;
  if (!(breakdown.seconds > 0.0) || breakdown.ranks.empty()) return std::nullopt;
  const DisturbedRun run{.profile = profile,
                         .breakdown = breakdown,
                         .shares = shares_of(profile, breakdown),
                         .pattern = time_pattern(profile, grouping, lost),
                         .of_whom = where(profile, breakdown)};
  const double delays = lost.seconds > 0.0 ? 1.0 - lost.speed_seconds / lost.seconds : 1.0;
  if (std::optional<Cause> cause = cause_by_the_system(run, delays)) return cause;
  // What makes the run red for sure is its cause, whatever else it did.
  const double lost_to_waits = lost_to_cpu_waits(profile);
  if (lost.is_red && lost_to_waits > 0.0 && lost_to_waits >= least_share_of_cause * lost.least_seconds) {
    return cause_of_waits_for_cpu(run, percent(lost_to_waits / breakdown.seconds));
  }
  if (std::optional<Cause> cause = cause_among_peers(run, lost)) return cause;
  if (const double in_files = run.shares.of(ExcessKind::file_io); is_cause(in_files)) {
    return run.cause("file-io", fmt::format("slow file I/O of {}: {} of the lost time was in file calls", run.of_whom,
                                            percent(in_files)));
  }
  if (const double on_devices = run.shares.of(ExcessKind::device); is_cause(on_devices)) {
    return run.cause("device", fmt::format("{} waited longer for devices: {} of the lost time was in calls of them",
                                           run.of_whom, percent(on_devices)));
  }
  const double in_communication = run.shares.of_communication();
  const double in_computation = run.shares.of(ExcessKind::computation);
  if (run.pattern.kind == TimePattern::Kind::start) {
    return run.cause("start-up", is_cause(in_communication)
                                     ? "start-up of the program: its first messages take longer"
                                     : "start-up of the program: work that is done once or for the first time");
  }
  // A rank that waits for a CPU keeps others in their calls, and those that take turns on one poll there.
  if (is_cause(run.shares.most_waiting) && !is_cause(run.shares.blocked)) {
    return cause_of_waits_for_cpu(run, "up to " + percent(run.shares.most_waiting));
  }
  if (is_cause(in_communication)) return cause_in_communication(run);
  if (is_cause(in_computation)) return cause_in_computation(run, grouping, lost);
  return run.cause(
      "unclear", fmt::format("no single cause: {} of the lost time was in computation, {} in communication, "
                             "{} in file I/O, {} on devices",
                             percent(in_computation), percent(in_communication),
                             percent(run.shares.of(ExcessKind::file_io)), percent(run.shares.of(ExcessKind::device))));
}

}  // namespace halcyon
