// The words for results that all output formats share: numbers, verdicts and evidence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {

/// With so many digits after the point. What rounds to zero has no sign.
std::string decimal(double value, int digits);

/// The unit that suits the size of a time, and its digits after the point.
struct Unit {
  double seconds;
  std::string_view name;
  int digits;
};
Unit unit_of(double value);

/// A time in the unit that suits its size.
std::string seconds(double value);
/// 45 s, 3 min 20 s, 2 h 5 min
std::string duration_text(double seconds);

/// As it was asked for, in full: "99.85 %". `confidence` is between 0 and 1.
std::string confidence_words(double confidence);

/// What measured the work.
std::string counter_words(const std::string& counter);

/// The operations that ended segments, and how many each.
std::string boundary_words(const Profile& profile);
/// What recurs in a run; empty if nothing does.
std::string unit_words(const Profile& profile, const Analysis& analysis);

/// "came from outside", as far as that is known.
std::string_view origin_words(const MethodResult& result);

/// The interference and its 90 % interval.
std::string with_interval(const MethodResult& result);

/// "24.6 % occasional delays, 0.8 % steady slowdown", and the cost of slow stretches, if there were any.
std::string parts_words(const MethodResult& result);

/// "4.34 s (4.12 to 4.51)", in the unit of the run time. Begins with "roughly" if most of the loss is a
/// steady slowdown, since then few segments or none ran undisturbed.
std::string undisturbed_words(const Analysis& analysis);

/// Bytes in the unit that suits their number; any other count with spaces between thousands.
std::string amount(std::uint64_t value, std::string_view units);

/// "allreduce in f (file.c:12)" if the module has symbols, else the site unchanged.
std::string site_words(const Profile& profile, const std::string& site);

std::string_view words_of(ExcessKind kind);

/// The phases of a run that are worth reporting, a clause each.
std::vector<std::string> phases_words(const Phases& phases);

/// How long the program was suspended, and how often. The profile must have a suspension.
std::string suspension_words(const Profile& profile);
/// How the run compares with known runs. The profile must have them.
enum class InShort : std::uint8_t { no, yes };
std::string known_runs_words(const Profile& profile, InShort in_short = InShort::no);
/// The machine's speeds in percent of the best known; empty if none is known.
std::string probes_words(const Analysis& analysis);

/// The ranks that took longer than their peers for the same work, and those that had more work: a line each.
std::vector<std::string> slower_ranks_words(const Profile& profile, const PeerComparison& peers);
std::vector<std::string> more_work_words(const Profile& profile, const PeerComparison& peers);

/// A larger multiple is told as "more": the others hardly compute.
inline constexpr double most_told_times = 20.0;
std::string times_words(double times);

/// Cores that the run's own ranks and threads share; empty if they do not, or the likely cause says so.
std::string crowded_words(const Analysis& analysis);
/// With its host, if there are several.
std::string name_of_rank(const Profile& profile, std::size_t rank);
/// The rank that costs the run most by being slower than its peers, or else by having more work, or else the one that
/// computes longest; empty if none stands out.
std::string unequal_rank_words(const Profile& profile, const PeerComparison& peers);

/// The parallel efficiency and its factors; empty if it is not known.
std::string efficiency_words(const Profile& profile);
/// How all ranks spent their time, and how fast their files were; empty if it is not known.
std::string time_shares_words(const Profile& profile);
/// How the ranks that held the others up spent their time: shares of computation and of each kind of call. Empty
/// without segments.
std::string spent_words(const SecondsByKind& spent);

/// The job of the batch system: "4711.0 of alice, partition short of jupiter, nodes n[1-4]"; empty if there was none.
std::string job_words(const Profile& profile);

/// The number of ranks, and their hosts: if there are only a few ranges of ranks, each range with its host.
std::string ranks_and_hosts_words(const Profile& profile);
/// The operating system's counts for the run, without unknown counts and zeros.
std::string evidence_words(const Profile& profile, const Breakdown& breakdown);
/// The same for everything that ran on its hosts.
std::string host_evidence_words(const Profile& profile);

}  // namespace halcyon
