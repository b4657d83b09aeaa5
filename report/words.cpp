#include "report/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "analyzer/attribution/efficiency.hpp"
#include "analyzer/attribution/retransmissions.hpp"
#include "analyzer/evidence/cpu_waits.hpp"
#include "analyzer/evidence/time_shares.hpp"
#include "analyzer/evidence/witnessed.hpp"
#include "libprofile/format/boundary.hpp"

namespace halcyon {
namespace {

constexpr std::size_t most_ranks_named = 4;  // or hosts
constexpr double least_told_share = 0.001;   // of the run time: shorter waits are not mentioned
constexpr double least_share_to_name_a_host = 0.6;
constexpr std::size_t most_runs_of_ranks = 8;
constexpr double least_balance_without_a_name = 0.95;  // with a better one, no rank computes longest

// The kernel's unknown values are NaN.
double sum_of_known(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value >= 0.0 ? value : 0.0;
  return sum;
}

// Names the host that has most of a sum over several hosts, if one has.
std::string mostly_on(const Profile& profile, const std::vector<double>& by_host, double sum) {
  const std::vector<std::string> hosts = profile.hosts();
  for (std::size_t host = 0; host < by_host.size() && hosts.size() > 1; ++host) {
    if (by_host[host] > least_share_to_name_a_host * sum) {
      return fmt::format(" ({:.0f} % on {})", 100.0 * by_host[host] / sum, hosts[host]);
    }
  }
  return "";
}

class Clauses {
 public:
  void add(const std::string& words) { text_ += (text_.empty() ? "" : ", ") + words; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Unit unit_of(double value) {
  const double size = 1.00005 * std::abs(value);  // a value that would round to 1000.0 gets the next unit
  const auto in = [size](double seconds, std::string_view name) {
    return Unit{seconds, name, size >= 100.0 * seconds ? 1 : 2};  // what is known has four digits at most
  };
  if (size >= 1.0) return in(1.0, "s");
  return size >= 1e-3 ? in(1e-3, "ms") : in(1e-6, "µs");
}

std::string decimal(double value, int digits) {
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string seconds(double value) {
  if (value == 0.0) return "0 s";
  const Unit unit = unit_of(value);
  return fmt::format("{} {}", decimal(value / unit.seconds, unit.digits), unit.name);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 90) return fmt::format("{} s", whole);
  if (whole < 5400) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string confidence_words(double confidence) {
  constexpr int digits = 10;  // fewer than a double has, since 100 times 0.9985 is not quite 99.85
  return fmt::format("{:.{}g} %", 100.0 * confidence, digits);
}

std::string counter_words(const std::string& counter) {
  if (counter == "cpu") return "CPU time (no hardware counter was used)";
  if (counter == "none") return "none";
  return counter.substr(0, 5) == "papi:" ? "PAPI event " + counter.substr(5) : counter;
}

std::string boundary_words(const Profile& profile) {
  std::string text;
  for (const BoundaryCount& count : profile.boundaries()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.operation, count.segments);
  }
  if (text.empty()) text = "none";
  return profile.boundary.empty() ? text : fmt::format("{} (--boundary {})", text, profile.boundary);
}

std::string unit_words(const Profile& profile, const Analysis& analysis) {
  const std::vector<BoundaryCount> counts = profile.boundaries();
  if (!counts.empty() && counts.front().operation == name_of(Boundary::pcontrol)) {
    return "from one MPI_Pcontrol(1) of each rank to the next";
  }
  if (!counts.empty() && counts.front().operation == name_of(Boundary::step)) {
    return "a step of each rank, from one call that recurs to the next; ranks need not wait for each other there";
  }
  if (!analysis.unit) return {};
  if (analysis.unit->segments == 1) return fmt::format("one segment, {} times", analysis.unit->times);
  return fmt::format("{}, {} times: the places that end them recur in this order",
                     plural(analysis.unit->segments, "segment"), analysis.unit->times);
}

std::string_view origin_words(const MethodResult& result) {
  return result.may_be_own ? "may have come from outside" : "came from outside";
}

std::string with_interval(const MethodResult& result) {
  return fmt::format("{} % ({} to {})", decimal(result.interference_percent, 1),
                     decimal(result.interval_percent.low, 1), decimal(result.interval_percent.high, 1));
}

std::string parts_words(const MethodResult& result) {
  const std::string words = fmt::format("{:.1f} % occasional delays, {:.1f} % steady slowdown",
                                        result.instantaneous_percent(), result.continuous_percent);
  const auto part = [](double percent, std::string_view what) {
    return percent > 0.0 ? fmt::format(", {:.1f} % {}", percent, what) : std::string();
  };
  return words + part(result.speed_percent, "slow stretches") + part(result.slow_ranks_percent, "slow ranks");
}

std::string undisturbed_words(const Analysis& analysis) {
  const Interval interval = analysis.undisturbed_interval_seconds();
  const Unit unit = unit_of(analysis.run_time_seconds);
  const MethodResult& result = analysis.result();
  const bool is_rough =
      result.verdict != Verdict::green && result.continuous_percent > 0.5 * result.interference_percent;
  return fmt::format("{}{:.{}f} {} ({:.{}f} to {:.{}f})", is_rough ? "roughly " : "",
                     analysis.undisturbed_time_seconds() / unit.seconds, unit.digits, unit.name,
                     interval.low / unit.seconds, unit.digits, interval.high / unit.seconds, unit.digits);
}

std::string amount(std::uint64_t value, std::string_view units) {
  if (units == "B" && value >= 1000) {
    constexpr std::array<std::string_view, 6> prefixes{"kB", "MB", "GB", "TB", "PB", "EB"};
    double size = 1e-3 * static_cast<double>(value);
    std::size_t prefix = 0;
    for (; size >= 999.95 && prefix + 1 < prefixes.size(); ++prefix) size *= 1e-3;
    return fmt::format("{:.1f} {}", size, prefixes[prefix]);
  }
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return units == "B" ? digits + " B" : digits;
}

std::string_view words_of(ExcessKind kind) {
  switch (kind) {
    case ExcessKind::computation: return "computation";
    case ExcessKind::point_to_point: return "point-to-point";
    case ExcessKind::collective: return "collective";
    case ExcessKind::file_io: return "file I/O";
    case ExcessKind::device: break;
  }
  return "device";
}

std::string suspension_words(const Profile& profile) {
  return fmt::format("{} by `halcyon regulate`, {} in all; not in the run time",
                     profile.suspension->times == 1 ? "once" : fmt::format("{} times", profile.suspension->times),
                     seconds(profile.suspension->seconds));
}

std::string known_runs_words(const Profile& profile, InShort in_short) {
  const KnownRuns& known = *profile.known_runs;
  // Of the longer time, which is the known one where this run was faster: nothing is faster by 100 % or more.
  const auto percent = [&profile](double seconds_more) {
    const double longer = std::max(profile.run_time_seconds, profile.run_time_seconds - seconds_more);
    return longer > 0.0 ? std::min(100.0, 100.0 * seconds_more / longer) : 0.0;
  };
  const double slower = percent(known.of_parts ? known.of_parts->beyond_seconds : known.displacement_seconds);
  const Interval interval = known.of_parts ? Interval{known.of_parts->low_seconds, known.of_parts->high_seconds}
                                           : Interval{known.low_seconds, known.high_seconds};
  const std::string best =
      fmt::format("the best of {}", plural(known.of_parts ? known.of_parts->runs : known.runs, "known run"));
  const std::string of = best + " of this work";
  // Typical segments are compared: delays of others say nothing of them.
  const std::string_view of_what = known.of_parts ? "" : "apart from delays, ";
  const auto between = [](double low, double high) {
    return fmt::format("(90 % interval {} to {} %)", decimal(low, 1), decimal(high, 1));
  };
  constexpr double least_told_percent = 0.1;
  const bool is_unknown = !excludes_zero(interval);
  if (in_short == InShort::yes) {
    if (is_unknown) return "not known to differ from " + best;
    if (std::abs(slower) < least_told_percent) return "as fast as " + best;
    return fmt::format("{:.1f} % {} than {}", std::abs(slower), slower > 0.0 ? "slower" : "faster", best);
  }
  if (is_unknown || std::abs(slower) < least_told_percent) {
    const std::string by = decimal(slower, 1);
    return fmt::format("{}{} {}: {}{} % {}", of_what, is_unknown ? "not known to be slower than" : "as fast as", of,
                       by.starts_with('-') ? "" : "+", by, between(percent(interval.low), percent(interval.high)));
  }
  if (slower > 0.0) {
    return fmt::format("{}slower than {} by {:.1f} % of its time {}", of_what, of, slower,
                       between(percent(interval.low), percent(interval.high)));
  }
  return fmt::format("{}faster than {} by {:.1f} % of their time {}", of_what, of, -slower,
                     between(-percent(interval.high), -percent(interval.low)));
}

std::string probes_words(const Analysis& analysis) {
  std::string text;
  for (const ProbeInfo& info : probe_infos) {
    if (const std::optional<ProbeDisplacement>& displacement = analysis.probes[index_of(info.probe)]) {
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", info.words, displacement->speed_percent());
    }
  }
  return text.empty() ? text : text + " of the best speed known here";
}

namespace {

std::string times_behind_words(const RankBehind& rank) {
  if (rank.times > most_told_times) return times_words(rank.times);
  return fmt::format("{:.2f} ({:.2f} to {:.2f}) times", rank.times, rank.times_interval.low, rank.times_interval.high);
}

// Whose doing it is that a rank takes longer for the same work, if that is known.
std::string_view slowness_words(const Profile& profile, Whose whose) {
  switch (whose) {
    case Whose::machine:
      return profile.counter == "cpu" ? ": others had its core" : ": its core or memory is slower, or others use it";
    case Whose::program: return ": the run has more ranks or threads than cores";
    case Whose::unknown: break;
  }
  return ": it slept or waited, perhaps by its own doing";
}

std::string_view more_work_words(Whose whose) {
  switch (whose) {
    case Whose::machine: return ": its core is slower, as the probes saw";
    case Whose::program: return ": the program's own imbalance, not the machine";
    case Whose::unknown: break;
  }
  return ": it has more work or a slower core, which CPU time cannot tell";
}

// `share`: of the lost seconds.
std::string percent_words(const Profile& profile, const RankBehind& rank, double share = 1.0) {
  const auto percent = [&](double seconds) { return 100.0 * share * seconds / profile.run_time_seconds; };
  return fmt::format("{:.1f} % ({:.1f} to {:.1f})", percent(rank.lost_seconds), percent(rank.lost_interval_seconds.low),
                     percent(rank.lost_interval_seconds.high));
}

std::vector<std::string> ranks_behind_words(const std::vector<RankBehind>& ranks, auto words_of_rank) {
  std::vector<std::string> lines;
  for (const RankBehind& rank : ranks) {
    if (lines.size() == most_ranks_named) break;
    lines.push_back(words_of_rank(rank));
  }
  if (ranks.size() > lines.size()) lines.push_back(plural(ranks.size() - lines.size(), "more rank"));
  return lines;
}

}  // namespace

std::vector<std::string> slower_ranks_words(const Profile& profile, const PeerComparison& peers) {
  const std::string_view work = profile.counter == "cpu" ? "CPU time" : "work";
  return ranks_behind_words(peers.slower, [&](const RankBehind& rank) {
    return fmt::format("{} takes {} as long as its peers for the same {}{}; {} of the run time follow from it",
                       profile.where_it_ran(rank.rank), times_behind_words(rank), work,
                       slowness_words(profile, rank.whose), percent_words(profile, rank));
  });
}

std::vector<std::string> more_work_words(const Profile& profile, const PeerComparison& peers) {
  const std::string_view work = profile.counter == "cpu" ? "CPU time" : "work";
  // Spread over all ranks, the work that some have more of would take the share of the others less time.
  const double saved = 1.0 - static_cast<double>(peers.more_work.size()) / static_cast<double>(profile.ranks);
  return ranks_behind_words(peers.more_work, [&](const RankBehind& rank) {
    return fmt::format("{} has {} the {} of its peers{}; spread evenly, the run would take {} less time",
                       profile.where_it_ran(rank.rank), times_behind_words(rank), work, more_work_words(rank.whose),
                       percent_words(profile, rank, saved));
  });
}

std::string crowded_words(const Analysis& analysis) {
  const auto crowded = std::ranges::find(analysis.warnings, "crowded-cores", &Warning::code);
  // The cause says it, too.
  const bool is_told = analysis.cause && (analysis.cause->code == "more-ranks-than-cores" ||
                                          analysis.cause->code == "more-threads-than-cores");
  return crowded == analysis.warnings.end() || is_told ? "" : crowded->message;
}

std::string name_of_rank(const Profile& profile, std::size_t rank) {
  return profile.hosts().size() > 1 ? profile.where_it_ran(rank) : fmt::format("rank {}", rank);
}

std::string unequal_rank_words(const Profile& profile, const PeerComparison& peers) {
  const std::string_view work = profile.counter == "cpu" ? "CPU time" : "work";
  if (!peers.slower.empty()) {
    const RankBehind& rank = peers.slower.front();
    return fmt::format("{} takes {} as long as its peers for the same {}", name_of_rank(profile, rank.rank),
                       times_words(rank.times), work);
  }
  if (!peers.more_work.empty()) {
    const RankBehind& rank = peers.more_work.front();
    return fmt::format("{} has {} the {} of its peers", name_of_rank(profile, rank.rank), times_words(rank.times),
                       work);
  }
  const std::optional<Efficiency> efficiency = efficiency_of(profile);
  if (!efficiency || efficiency->load_balance >= least_balance_without_a_name) return "";
  return fmt::format("{} computes longest (load balance {:.0f} %)", name_of_rank(profile, efficiency->busiest),
                     100.0 * efficiency->load_balance);
}

std::string times_words(double times) {
  return times > most_told_times ? fmt::format("more than {:.0f} times", most_told_times)
                                 : fmt::format("{:.2f} times", times);
}

std::string job_words(const Profile& profile) {
  if (profile.job.empty()) return "";
  const auto part = [](std::string_view before, const std::string& text) {
    return text.empty() ? std::string() : std::string(before) + text;
  };
  return profile.job + part(".", profile.job_step) + part(" of ", profile.user) + part(", project ", profile.project) +
         part(", partition ", profile.partition) + part(" of ", profile.cluster) + part(", nodes ", profile.node_list);
}

std::string time_shares_words(const Profile& profile) {
  const std::optional<TimeShares> shares = time_shares(profile);
  if (!shares) return "";
  std::string words = fmt::format("computation {:.1f} %, MPI {:.1f} %, files {:.1f} %, {} {:.1f} %",
                                  100.0 * shares->computing, 100.0 * shares->in_mpi, 100.0 * shares->in_files,
                                  has_busy_threads(profile) ? "asleep or waiting for threads of their own" : "asleep",
                                  100.0 * shares->asleep);
  if (shares->on_devices > 0.0) words += fmt::format(", devices {:.1f} %", 100.0 * shares->on_devices);
  const std::uint64_t bytes = bytes_of_files(profile);
  if (bytes > 0 && shares->file_seconds > 0.0) {
    const double rate = static_cast<double>(bytes) / shares->file_seconds;
    words +=
        fmt::format("; {} of files at {}/s a rank", amount(bytes, "B"), amount(static_cast<std::uint64_t>(rate), "B"));
  }
  return words;
}

std::string efficiency_words(const Profile& profile) {
  const std::optional<Efficiency> efficiency = efficiency_of(profile);
  if (!efficiency) return "";
  const std::string who = efficiency->load_balance < least_balance_without_a_name
                              ? fmt::format(" (rank {} computes longest)", efficiency->busiest)
                              : "";
  const std::string factors = efficiency->transfer
                                  ? fmt::format(" (serialisation {:.0f} %, transfer {:.0f} %)",
                                                100.0 * *efficiency->serialisation, 100.0 * *efficiency->transfer)
                                  : "";
  const std::optional<ThreadEfficiency> threads = thread_efficiency_of(profile);
  const std::string of_threads =
      threads ? fmt::format("; {:.2g} threads of OpenMP: {:.0f} % of their time was work (load balance {:.0f} %)",
                            threads->threads, 100.0 * threads->parallel, 100.0 * threads->load_balance)
              : "";
  return fmt::format(
      "{:.0f} % of the run time was spent outside MPI: load balance {:.0f} %{}, communication {:.0f} %{}{}",
      100.0 * efficiency->parallel(), 100.0 * efficiency->load_balance, who, 100.0 * efficiency->communication, factors,
      of_threads);
}

std::string spent_words(const SecondsByKind& spent) {
  double all = 0.0;
  for (const double seconds : spent) all += seconds;
  Clauses clauses;
  for (std::size_t kind = 0; all > 0.0 && kind < excess_kind_count; ++kind) {
    const double percent = 100.0 * spent[kind] / all;
    if (percent >= 0.5) clauses.add(fmt::format("{} {:.0f} %", words_of(static_cast<ExcessKind>(kind)), percent));
  }
  return clauses.text();
}

std::vector<std::string> phases_words(const Phases& phases) {
  constexpr double least_told = 0.01;  // of the run
  constexpr std::size_t most_changes = 3;
  std::vector<std::string> clauses;
  const auto percent = [&phases](double part) { return fmt::format("{:.0f} %", 100.0 * part / phases.end_seconds); };
  if (phases.stable_from_seconds >= least_told * phases.end_seconds) {
    clauses.push_back(
        fmt::format("the first {} ({}) are start-up: they come before the repeated work, and little of them is judged",
                    seconds(phases.stable_from_seconds), percent(phases.stable_from_seconds)));
  }
  // The largest changes, in the order of time.
  std::vector<const LevelChange*> told;
  for (const LevelChange& change : phases.changes) told.push_back(&change);
  std::stable_sort(told.begin(), told.end(), [](const LevelChange* a, const LevelChange* b) {
    return std::abs(a->added_seconds) > std::abs(b->added_seconds);
  });
  told.resize(std::min(told.size(), most_changes));
  std::sort(told.begin(), told.end(),
            [](const LevelChange* a, const LevelChange* b) { return a->from_seconds < b->from_seconds; });
  for (const LevelChange* change : told) {
    const bool is_slower = change->factor > 1.0;
    const double factor = is_slower ? change->factor : 1.0 / change->factor;
    std::string words =
        fmt::format("between {} and {} the ", seconds(change->from_seconds), seconds(change->to_seconds));
    words += change->may_be_work
                 ? fmt::format("CPU time of segments was {:.1f} times {}: {} work, or a {} machine", factor,
                               is_slower ? "longer" : "shorter", is_slower ? "more" : "less",
                               is_slower ? "slower" : "faster")
                 : fmt::format("same work was {:.1f} times {}", factor, is_slower ? "slower" : "faster");
    if (!change->ranks.empty() && change->ranks.size() <= most_ranks_named) {
      words += fmt::format(", held up by {} {}{}{}", change->ranks.size() == 1 ? "rank" : "ranks",
                           fmt::join(change->ranks, ", "), change->hosts.empty() ? "" : " on ",
                           fmt::join(change->hosts, ", "));
    } else if (!change->hosts.empty() && change->hosts.size() <= most_ranks_named) {
      words += fmt::format(", held up by ranks on {}", fmt::join(change->hosts, ", "));
    }
    clauses.push_back(words);
  }
  if (phases.changes.size() > told.size()) {
    const std::size_t more = phases.changes.size() - told.size();
    clauses.push_back(fmt::format("there {} {}", more == 1 ? "was" : "were", plural(more, "smaller change")));
  }
  if (!phases.dominant) clauses.push_back("no level of speed held for more than half of the run");
  if (const double end = phases.end_seconds - phases.stable_to_seconds; end >= least_told * phases.end_seconds) {
    clauses.push_back(fmt::format("the last {} ({}) come after the repeated work, and little of them is judged",
                                  seconds(end), percent(end)));
  }
  return clauses;
}

namespace {

// On how many of the ranks that were recorded the operating system was not asked. A kernel that does not say something
// says nothing on all ranks; what every kernel says is missing where a rank was killed before it could ask.
std::size_t ranks_not_measured(const Profile& profile) {
  const std::vector<double>& said_by_all = profile.evidence[index_of(Evidence::involuntary_switches)];
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < said_by_all.size(); ++rank) {
    count += std::isnan(said_by_all[rank]) && !profile.left_nothing(rank) ? 1 : 0;
  }
  return count;
}

}  // namespace

std::string evidence_words(const Profile& profile, const Breakdown& breakdown) {
  Clauses clauses;
  if (breakdown.off_cpu_seconds) {
    clauses.add(fmt::format("for {:.0f} % of the lost time, the slowest rank was off the CPU longer than usual",
                            std::min(100.0, 100.0 * *breakdown.off_cpu_seconds / breakdown.seconds)));
  }
  const auto count = [&](Evidence evidence, std::string_view word) {
    if (const double all = sum_of_known(profile.evidence[index_of(evidence)]); all > 0.0) {
      clauses.add(plural(static_cast<std::uint64_t>(all), word));
    }
  };
  const auto wait = [&](Evidence evidence, std::string_view who) {
    const double all = sum_of_known(profile.evidence[index_of(evidence)]);
    if (all < least_told_share * profile.run_time_seconds) return;
    clauses.add(fmt::format("{} waited {} for a CPU", who, seconds(all)));
  };
  wait(Evidence::cpu_wait, "the ranks");
  wait(Evidence::cpu_wait_of_others, "their other threads");
  if (const std::optional<CrowdedCores> crowded = crowded_cores(profile)) clauses.add(in_words(*crowded, profile));
  const std::vector<double>& throttled = profile.evidence[index_of(Evidence::throttled)];
  const double most = throttled.empty() ? 0.0 : *std::ranges::max_element(throttled);
  if (most >= least_told_share * profile.run_time_seconds) {
    clauses.add(fmt::format("a limit on CPU time held their control groups back for up to {}", seconds(most)));
  }
  if (const double used = sum_of_known(profile.evidence[index_of(Evidence::children_cpu)]);
      used >= least_told_share * profile.run_time_seconds) {
    clauses.add(fmt::format("their child processes used {} of CPU time", seconds(used)));
  }
  // Where time was lost, the likely cause says it.
  if (const std::string who = who_had_the_cpus(profile); !who.empty() && !(breakdown.seconds > 0.0)) {
    clauses.add("their CPUs had " + who);
  }
  count(Evidence::involuntary_switches, "preemption");
  count(Evidence::major_faults, "major page fault");
  if (const std::size_t ranks = ranks_not_measured(profile); ranks > 0) {
    clauses.add(fmt::format("not measured on {} of {}", ranks, plural(profile.ranks, "rank")));
  }
  return clauses.text();
}

namespace {

// All of them, or the first and the last of many.
std::string hosts_in_words(const std::vector<std::string>& hosts) {
  constexpr std::size_t most_named = 16;
  if (hosts.size() <= most_named) return fmt::format("{}", fmt::join(hosts, " "));
  return fmt::format("{} hosts, from {} to {}", hosts.size(), hosts.front(), hosts.back());
}

}  // namespace

std::string ranks_and_hosts_words(const Profile& profile) {
  std::vector<std::string> runs;  // of ranks on the same host
  for (std::size_t first = 0; first < profile.rank_host.size() && runs.size() <= most_runs_of_ranks;) {
    std::size_t end = first + 1;
    while (end < profile.rank_host.size() && profile.rank_host[end] == profile.rank_host[first]) ++end;
    const std::string ranks = end - first > 1 ? fmt::format("{}-{}", first, end - 1) : fmt::format("{}", first);
    const std::string& host = profile.rank_host[first];
    runs.push_back(ranks + (host.empty() ? " left nothing" : " on " + host));
    first = end;
  }
  if (runs.size() > 1 && runs.size() <= most_runs_of_ranks) {
    return fmt::format("{}: {}", profile.ranks, fmt::join(runs, ", "));
  }
  return fmt::format("{} on {}", profile.ranks, hosts_in_words(profile.hosts()));
}

std::string host_evidence_words(const Profile& profile) {
  Clauses clauses;
  const auto told = [&profile](Evidence evidence) {
    const std::vector<double> by_host = profile.by_host(evidence);
    const double all = sum_of_known(by_host);
    return all >= least_told_share * profile.run_time_seconds
               ? std::optional(seconds(all) + mostly_on(profile, by_host, all))
               : std::nullopt;
  };
  const auto wait = [&](Evidence evidence, std::string_view what) {
    if (const std::optional<std::string> time = told(evidence)) {
      const std::string begin = clauses.text().empty() ? "a process waited " : "";
      clauses.add(fmt::format("{}for {} during {}", begin, what, *time));
    }
  };
  wait(Evidence::cpu_pressure, "a CPU");
  wait(Evidence::io_pressure, "I/O");
  wait(Evidence::memory_pressure, "memory");
  if (const std::optional<std::string> time = told(Evidence::steal)) {
    clauses.add(fmt::format("the hypervisor took {} of CPU time", *time));
  }
  if (const double all = sum_of_known(profile.by_host(Evidence::tcp_retransmissions)); all > 0.0) {
    // A few retransmissions happen on any host. One is named only where the likely cause would name it.
    const std::optional<RetransmittingHost> most = most_retransmitting(profile);
    clauses.add(plural(static_cast<std::uint64_t>(all), "TCP retransmission") +
                (most ? fmt::format(" ({:.0f} % on {})", 100.0 * most->own / most->all, most->host) : ""));
  }
  return clauses.text();
}

std::string site_words(const Profile& profile, const std::string& site) {
  const auto known = profile.places.find(site);
  if (known == profile.places.end()) return site;
  const SourcePlace& place = known->second;
  const std::string source = place.source.empty() ? "" : " (" + place.source + ")";
  return site.substr(0, site.find('@')) + " in " + place.function + source;
}

}  // namespace halcyon
