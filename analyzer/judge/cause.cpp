#include "analyzer/judge/cause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <vector>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/machine/background.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

// Of the excess: what explains less is not the cause of it.
constexpr double least_share_of_cause = 0.5;
constexpr double least_share_beside_slow_stretches = 0.3;
// Of the excess, that it is one rank's or one host's.
constexpr double least_share_of_one = 0.8;
// Of the excess, that must have been off the CPU where ranks are said to have waited for one: they may have waited
// where nothing was lost.
constexpr double least_share_off_cpu = 0.25;
// Where the kernel does not say how long ranks waited for a CPU: who is preempted gets it back within about so long.
constexpr double longest_preemption_seconds = 0.1;
// What answering a page fault from a disk takes, and how many there must be to say so.
constexpr double seconds_of_major_fault = 5e-3;
constexpr double fewest_major_faults = 100.0;
constexpr double least_share_of_memory_pressure = 0.25;
// Of fewer, one has most of the excess by chance.
constexpr int fewest_ranks_to_single_one_out = 3;

constexpr std::array<CauseInfo, 15> infos{{
    {"more-ranks-than-cores", "Start no more ranks (times threads) than the host has cores, and measure again."},
    {"other-processes",
     "Find out what else ran there then (top, the batch system's records), use free cores, and measure again."},
    {"hypervisor-steal", "Ask who runs the virtual machines for a host that is less shared, or take dedicated cores."},
    {"memory-pressure", "Use fewer ranks on a host or a smaller case, and see what else fills its memory (free, top)."},
    {"file-io",
     "See who else used the file system then; write less often or to a local disk, or measure again at a quieter "
     "time."},
    {"start-up", "Leave the start out of what you measure, or run longer."},
    {"network",
     "See what other jobs sent over the network then, and whether a link is slow; measure again on neighbouring "
     "hosts."},
    {"communication",
     "No network is between these ranks: see what else used the host's cores and memory, and measure again."},
    {"slow-host", "Measure without that host; have its clock rate, heat and memory checked, and who shares it."},
    {"slow-rank", "See which core the rank ran on and who shares it (interrupts, a busy sibling); bind it elsewhere."},
    {"slow-machine",
     "Check clock rate and heat (cpupower, turbostat) and who shares the memory, and measure again at a fixed rate."},
    {"slower-computation",
     "Record with a hardware counter (--counter papi:PAPI_TOT_INS) or compare with another run: that tells the "
     "machine's speed from the program's own work."},
    {"own-variation", "Nothing outside is to blame: compare runs of the same input, and quote a mean over several."},
    {"own-waiting",
     "See what the program waits for there: locks, sleeps, mapped files, a GPU. Where others share it, measure again "
     "when it is free."},
    {"unclear", "See where the time went, and compare with a run on an idle host (halcyon compare)."},
}};

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double known_or_zero(const std::vector<double>& values, std::size_t at) {
  return at < values.size() && values[at] > 0.0 ? values[at] : 0.0;
}

bool are_known(const std::vector<double>& values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Shares of the excess that each piece of evidence could explain.
struct Shares {
  double off_cpu = 0.0;
  double waiting_for_cpu = 0.0;  // ready to run, on a CPU that others had
  double blocked = 0.0;          // off the CPU and not ready: asleep, or waiting for something else
  double stolen = 0.0;
  double paging = 0.0;
  SecondsByKind kinds{};  // shares, not seconds

  double of(ExcessKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  double of_communication() const { return of(ExcessKind::point_to_point) + of(ExcessKind::collective); }
};

Shares shares_of(const Profile& profile, const Attribution& attribution) {
  Shares shares;
  const double all = attribution.seconds;
  const auto evidence = [&profile](Evidence which) -> const std::vector<double>& {
    return profile.evidence[index_of(which)];
  };
  shares.off_cpu = attribution.off_cpu_seconds.value_or(0.0) / all;
  if (are_known(evidence(Evidence::cpu_wait))) {
    double waited = 0.0;
    double blocked = 0.0;
    for (const RankShare& rank : attribution.ranks) {
      const double wait = known_or_zero(evidence(Evidence::cpu_wait), rank.rank);
      waited += std::clamp(rank.seconds, 0.0, wait);
      blocked += std::max(0.0, rank.off_cpu_seconds - wait);
    }
    // What the other threads of a rank wait for, the rank waits for in its computation.
    const double others = sum(evidence(Evidence::cpu_wait_of_others));
    if (shares.off_cpu >= least_share_off_cpu) shares.waiting_for_cpu = std::min(waited / all, shares.off_cpu);
    const double computing = attribution.kinds[static_cast<std::size_t>(ExcessKind::computation)];
    if (others > 0.0 && waited < computing) {
      shares.waiting_for_cpu = std::max(shares.waiting_for_cpu, std::min(others, computing) / all);
    }
    shares.blocked = blocked / all;
  } else if (sum(evidence(Evidence::involuntary_switches)) * longest_preemption_seconds >= shares.off_cpu * all) {
    shares.waiting_for_cpu = shares.off_cpu;
  }
  const auto of_hosts = [&profile](Evidence which) {
    double seconds = 0.0;
    for (const double value : profile.by_host(which)) seconds += value > 0.0 ? value : 0.0;
    return seconds;
  };
  shares.stolen = of_hosts(Evidence::steal) / all;
  const double faults = sum(evidence(Evidence::major_faults));
  if (faults >= fewest_major_faults && of_hosts(Evidence::memory_pressure) >= least_share_of_memory_pressure * all) {
    shares.paging = faults * seconds_of_major_fault / all;
  }
  for (std::size_t i = 0; i < excess_kind_count; ++i) shares.kinds[i] = attribution.kinds[i] / all;
  return shares;
}

const HostShare* host_alone(const Profile& profile, const Attribution& attribution) {
  const HostShare& worst = attribution.hosts.front();
  return profile.hosts().size() > 1 && worst.seconds >= least_share_of_one * attribution.seconds ? &worst : nullptr;
}

const RankShare* rank_alone(const Attribution& attribution) {
  const RankShare& worst = attribution.ranks.front();
  return worst.seconds >= least_share_of_one * attribution.seconds ? &worst : nullptr;
}

// Whom the excess is of, behind a preposition.
std::string where(const Profile& profile, const Attribution& attribution) {
  const std::vector<std::string> hosts = profile.hosts();
  if (const RankShare* rank = rank_alone(attribution)) {
    return fmt::format("rank {} on {}", rank->rank, profile.rank_host[rank->rank]);
  }
  if (const HostShare* host = host_alone(profile, attribution)) return "the ranks on " + host->host;
  return hosts.size() == 1 ? "the ranks on " + hosts.front() : "the ranks";
}

// How much of the excess the program's own work explains, by a hardware counter: where it did more of it.
double share_of_more_work(const Profile& profile, const Grouping& grouping, const Analysis& analysis) {
  const FeatureColumn& work = profile.features[index_of(Feature::compute)];
  if (profile.counter.substr(0, 5) != "papi:" || work.bins.size() < 2) return 0.0;
  double explained = 0.0;
  for (const JudgedGroup& group : analysis.judged) {
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
      const double excess = static_cast<double>(analysis.excess[segment]);
      explained += std::clamp(more * group.baseline_seconds, 0.0, std::max(excess, 0.0));
    }
  }
  return explained / analysis.attribution.seconds;
}

// -- the order in time

// The excess of judged segments beyond their group's mean: the program's own order of work leaves nothing in it.
std::vector<double> deviations(const Grouping& grouping, const Analysis& analysis) {
  std::vector<double> values(analysis.excess.size(), 0.0);
  for (const JudgedGroup& group : analysis.judged) {
    const std::span<const std::uint32_t> members = grouping.members(group.group);
    double mean = 0.0;
    for (const std::uint32_t segment : members) mean += static_cast<double>(analysis.excess[segment]);
    mean /= static_cast<double>(members.size());
    for (const std::uint32_t segment : members) values[segment] = static_cast<double>(analysis.excess[segment]) - mean;
  }
  return values;
}

constexpr std::size_t bins_of_time = 4096;
constexpr std::size_t fewest_periods = 8;
constexpr std::size_t fewest_slow_periods = 3;  // of what also stands out at a multiple of its rate
// Bins, and segments, that a period must have at least.
constexpr std::size_t least_in_period = 4;
// How far a line of the spectrum must stand above its surroundings. For noise of any smooth spectrum a line does so
// with a probability of exp(-20): 2e-9, and there are some thousand lines.
constexpr double least_prominence = 20.0;

/// Squared lengths of the sums over exp(2 pi i f t) at half a cycle a run, one cycle, and so on.
std::vector<double> spectrum(const std::vector<double>& bins, std::size_t lines) {
  constexpr std::size_t steps = 2 * bins_of_time;  // of a cycle
  std::vector<double> cosine(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    cosine[i] = std::cos(2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(steps));
  }
  std::vector<double> power(lines);
  for (std::size_t line = 0; line < lines; ++line) {
    double real = 0.0;
    double imaginary = 0.0;
    std::size_t phase = 0;
    for (const double value : bins) {
      real += value * cosine[phase];
      imaginary += value * cosine[(phase + steps / 4 * 3) % steps];
      phase = (phase + line) % steps;
    }
    power[line] = real * real + imaginary * imaginary;
  }
  return power;
}

// Mean power of the lines around one, as their median tells it: other lines that stand out do not count.
double surroundings(const std::vector<double>& power, std::size_t line) {
  constexpr std::size_t reach = 64;
  constexpr std::size_t own_width = 3;
  std::vector<double> around;
  for (std::size_t i = line > reach ? line - reach : 1; i < std::min(power.size(), line + reach); ++i) {
    if (i + own_width < line || i > line + own_width) around.push_back(power[i]);
  }
  return median_in_place(around) / std::numbers::ln2;
}

std::optional<double> period_of(const Profile& profile, const Grouping& grouping, const Analysis& analysis) {
  const std::vector<double> values = deviations(grouping, analysis);
  const double run = length_of(profile.duration);
  const std::size_t most_periods = std::min(bins_of_time, values.size()) / least_in_period;
  if (!(run > 0.0) || most_periods <= 2 * fewest_periods) return std::nullopt;
  std::vector<double> bins(bins_of_time, 0.0);
  double squares = 0.0;
  double weights = 0.0;
  double weighted_durations = 0.0;  // disturbed segments are longer than most
  const PartsByTime parts{.seconds = run, .count = bins_of_time};
  along_time(profile.duration, [&](std::size_t segment, double begin, double duration) {
    bins[parts.at(begin)] += values[segment];
    weights += std::max(values[segment], 0.0);
    weighted_durations += std::max(values[segment], 0.0) * duration;
  });
  for (const double bin : bins) squares += bin * bin;
  const std::vector<double> power = spectrum(bins, 2 * most_periods + 1);  // two lines a cycle
  // Beside the surroundings, chance alone: excess that strikes at any time has the sum of squares for its mean power.
  const auto stands_out = [&](std::size_t line) {
    return line >= 2 * fewest_periods && power[line] > least_prominence * squares &&
           power[line] > least_prominence * surroundings(power, line);
  };
  const auto strongest =
      static_cast<std::size_t>(std::max_element(power.begin() + 2 * fewest_periods, power.end()) - power.begin());
  if (!stands_out(strongest)) return std::nullopt;
  // Short bursts have lines at multiples of their rate, which may be the stronger ones.
  std::size_t line = strongest;
  for (std::size_t multiple = 2; multiple <= 8; ++multiple) {
    for (std::size_t i = strongest / multiple; i <= strongest / multiple + 1; ++i) {
      if (stands_out(i) && i < line) line = i;
    }
  }
  // So does what comes and goes for longer: its own rate may be too slow to be told by itself, but is a peak.
  for (const std::size_t multiple : {2, 3, 5}) {
    const std::size_t slower = (line + multiple / 2) / multiple;
    if (slower >= 2 * fewest_periods || slower < 2) continue;
    const auto peak = std::max_element(power.begin() + static_cast<std::ptrdiff_t>(slower) - 1,
                                       power.begin() + static_cast<std::ptrdiff_t>(slower) + 2);
    const auto at = static_cast<std::size_t>(peak - power.begin());
    constexpr std::size_t beside = 3;
    constexpr double least_peak = 4.0;
    const double left = at > beside ? power[at - beside] : 0.0;
    if (*peak < power[line] || *peak < least_peak * std::max(left, power[at + beside])) continue;
    if (at < 2 * fewest_slow_periods) return std::nullopt;
    line = at;
    break;
  }
  const double period = 2.0 * run / static_cast<double>(line);
  const bool is_of_segments = period * weights < static_cast<double>(least_in_period) * weighted_durations;
  return is_of_segments ? std::nullopt : std::optional(period);
}

std::string in_seconds(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.2g} ms", 1e3 * seconds) : fmt::format("{:.2g} s", seconds);
}

std::string in_words(const TimePattern& pattern) {
  switch (pattern.kind) {
    case TimePattern::Kind::throughout: break;
    case TimePattern::Kind::periodic: return "every " + in_seconds(pattern.period_seconds);
    case TimePattern::Kind::bursts: return "in bursts";
    case TimePattern::Kind::stretch:
      return fmt::format("from {} to {} of the run", in_seconds(pattern.from_seconds), in_seconds(pattern.to_seconds));
    case TimePattern::Kind::start: return fmt::format("in the first {}", in_seconds(pattern.to_seconds));
  }
  return "throughout the run";
}

}  // namespace

std::span<const CauseInfo> cause_infos() { return infos; }

bool has_more_ranks_than_cores(const Profile& profile) {
  const std::vector<double>& cpus = profile.evidence[index_of(Evidence::cpus)];
  std::map<std::string, double> ranks;
  for (const std::string& host : profile.rank_host) ++ranks[host];
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    if (cpus[rank] >= 1.0 && ranks[profile.rank_host[rank]] > cpus[rank]) return true;
  }
  return false;
}

double longest_wait_for_cpu(const Profile& profile) {
  const std::vector<double>& waits = profile.evidence[index_of(Evidence::cpu_wait)];
  double longest = 0.0;
  for (std::size_t rank = 0; rank < waits.size(); ++rank) longest = std::max(longest, known_or_zero(waits, rank));
  return longest;
}

TimePattern time_pattern(const Profile& profile, const Grouping& grouping, const Analysis& analysis) {
  using Kind = TimePattern::Kind;
  constexpr double most_of_it = 0.8;
  constexpr std::size_t few_windows = window_count / 4;
  constexpr std::size_t many_windows = 3 * window_count / 5;  // evenly spread, it needs four fifths
  std::array<double, window_count> windows = analysis.attribution.windows;
  for (double& window : windows) window = std::max(window, 0.0);
  const double needed = most_of_it * std::accumulate(windows.begin(), windows.end(), 0.0);
  const double length = analysis.attribution.window_seconds;
  const auto stretch_within = [&](std::size_t fewest, std::size_t most) -> std::optional<TimePattern> {
    for (std::size_t count = fewest; count <= most; ++count) {
      for (std::size_t first = 0; first + count <= window_count; ++first) {
        const auto begin = windows.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) < needed) continue;
        return TimePattern{.kind = first == 0 && count <= few_windows ? Kind::start : Kind::stretch,
                           .from_seconds = static_cast<double>(first) * length,
                           .to_seconds = static_cast<double>(first + count) * length};
      }
    }
    return std::nullopt;
  };
  if (const std::optional<TimePattern> stretch = stretch_within(1, few_windows)) return *stretch;
  if (const std::optional<double> period = period_of(profile, grouping, analysis)) {
    return {.kind = Kind::periodic, .period_seconds = *period};
  }
  std::array<double, window_count> highest_first = windows;
  std::sort(highest_first.begin(), highest_first.end(), std::greater<>());
  const auto highest = highest_first.begin();
  if (std::accumulate(highest, highest + few_windows, 0.0) >= needed) return {.kind = Kind::bursts};
  return stretch_within(few_windows + 1, many_windows).value_or(TimePattern{.kind = Kind::throughout});
}

std::optional<Cause> likely_cause(const Profile& profile, const Grouping& grouping, const Analysis& analysis) {
  const Verdict verdict = analysis.result().verdict;
  const Attribution& attribution = analysis.attribution;
  if ((verdict != Verdict::yellow && verdict != Verdict::red) || !(attribution.seconds > 0.0) ||
      attribution.ranks.empty()) {
    return std::nullopt;
  }
  const Shares shares = shares_of(profile, attribution);
  const TimePattern pattern = time_pattern(profile, grouping, analysis);
  const std::string of_whom = where(profile, attribution);
  const std::string when = in_words(pattern);
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100.0 * std::clamp(share, 0.0, 1.0)); };
  const auto is_cause = [](double share) { return share >= least_share_of_cause; };
  const auto cause = [&when](std::string_view code, const std::string& text) {
    const auto info =
        std::find_if(infos.begin(), infos.end(), [code](const CauseInfo& one) { return one.code == code; });
    return Cause{info->code, text + ", " + when, info->action};
  };

  // Who shares the cores slows them down as well: slow stretches speak neither for that nor against it.
  const MethodResult& result = analysis.result();
  const double delays =
      result.interference_percent > 0.0 ? 1.0 - result.speed_percent / result.interference_percent : 1.0;
  if (is_cause(shares.waiting_for_cpu) || (shares.waiting_for_cpu >= least_share_beside_slow_stretches &&
                                           shares.waiting_for_cpu >= least_share_of_cause * delays)) {
    const std::string waited =
        of_whom + " waited for a CPU for " + percent(shares.waiting_for_cpu) + " of the lost time";
    if (has_more_ranks_than_cores(profile)) {
      return cause("more-ranks-than-cores", "more ranks than cores: " + waited);
    }
    return cause("other-processes", "other processes on the same cores: " + waited);
  }
  if (is_cause(shares.stolen)) {
    return cause("hypervisor-steal", fmt::format("the hypervisor kept CPU time from the hosts, {} of what was lost",
                                                 percent(shares.stolen)));
  }
  if (is_cause(shares.paging) && shares.blocked >= least_share_off_cpu) {
    return cause("memory-pressure", "too little memory: pages came back from a disk");
  }
  if (is_cause(shares.of(ExcessKind::file_io))) {
    return cause("file-io", fmt::format("slow file I/O of {}: {} of the lost time was in file calls", of_whom,
                                        percent(shares.of(ExcessKind::file_io))));
  }
  const bool communicates = is_cause(shares.of_communication());
  const bool computes = is_cause(shares.of(ExcessKind::computation));
  if (pattern.kind == TimePattern::Kind::start) {
    return cause("start-up", communicates ? "the program's start: first messages take longer"
                                          : "the program's start: what is done once, or for the first time");
  }
  if (communicates) {
    const bool is_one_host = profile.hosts().size() == 1;
    constexpr double least_told_apart = 0.05;
    const double point_to_point = shares.of(ExcessKind::point_to_point);
    const double collective = shares.of(ExcessKind::collective);
    const bool is_both = std::min(point_to_point, collective) >= least_told_apart;
    const std::string which = is_both ? "" : point_to_point >= collective ? "point-to-point " : "collective ";
    const std::string apart =
        is_both ? fmt::format(" (point-to-point {}, collective {})", percent(point_to_point), percent(collective)) : "";
    return cause(is_one_host ? "communication" : "network",
                 fmt::format("slow {}communication of {}: {} of the lost time was in its calls{}{}", which, of_whom,
                             percent(shares.of_communication()), apart, is_one_host ? ", within one host" : ""));
  }
  if (!computes) {
    return cause("unclear",
                 fmt::format("no single one: {} of the lost time was in computation, {} in communication, {} "
                             "in file I/O",
                             percent(shares.of(ExcessKind::computation)), percent(shares.of_communication()),
                             percent(shares.of(ExcessKind::file_io))));
  }
  if (is_cause(shares.blocked)) {
    return cause("own-waiting", fmt::format("{} slept or waited, outside MPI and file calls, in {} of the lost time",
                                            of_whom, percent(shares.blocked)));
  }
  if (is_cause(shares.off_cpu)) {  // nobody says for what it waited
    return cause("unclear", fmt::format("{} was off the CPU in {} of the lost time, and the kernel does not say why",
                                        of_whom, percent(shares.off_cpu)));
  }
  if (is_cause(share_of_more_work(profile, grouping, analysis))) {
    return cause("own-variation", "the program's own variation: the longer segments did more work");
  }
  if (const HostShare* host = host_alone(profile, attribution)) {
    return cause("slow-host", fmt::format("one slow host: {} of the lost time was in computation of {}",
                                          percent(host->seconds / attribution.seconds), of_whom));
  }
  const RankShare* rank = rank_alone(attribution);
  if (rank != nullptr && profile.ranks >= fewest_ranks_to_single_one_out) {
    return cause("slow-rank", fmt::format("one slow rank: {} of the lost time was in computation of {}",
                                          percent(rank->seconds / attribution.seconds), of_whom));
  }
  const std::optional<Background> background = background_of(profile);
  const bool is_slow =
      background && background->percent() >= least_share_of_cause * analysis.result().interference_percent;
  if (is_slow || profile.counter.substr(0, 5) == "papi:") {
    return cause("slow-machine", "slow cores or memory: computation took longer while the ranks were on a CPU");
  }
  return cause("slower-computation",
               "computation took longer while the ranks were on a CPU: the machine's speed, or the program's own work");
}

}  // namespace halcyon
