// What a result is called wherever it is drawn: numbers, verdicts and evidence in the words of a reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A time with a unit that suits its size.
std::string seconds(double value);

/// "1 rank", "2 ranks".
std::string plural(std::uint64_t count, std::string_view word);

/// The one thing to do.
std::string_view advice(const Profile& profile, Verdict verdict);

/// By what the work was measured.
std::string counter_words(const std::string& counter);

/// What ended segments, and how often.
std::string boundary_words(const Profile& profile);

/// The number and its interval.
std::string with_interval(const MethodResult& result);

/// "24.6 % occasional delays, 0.8 % steady slowdown", and what a slower machine cost, where it was.
std::string parts_words(const MethodResult& result);

/// "4.34 s (4.12 to 4.51)": the interval in the unit of the number. "roughly" where a steady slowdown is most of what
/// was lost: few segments or none show what they take undisturbed.
std::string undisturbed_words(const Analysis& analysis);

/// A number of bytes with a unit that suits its size, and of anything else with spaces between thousands.
std::string amount(std::uint64_t value, std::string_view units);

/// "allreduce in f (file.c:12)" where the symbols of its module told, else as it is.
std::string site_words(const Profile& profile, const std::string& site);

/// "likely cause: …", and what to do about it.
std::string cause_words(const Cause& cause);

std::string_view words_of(ExcessKind kind);

/// How the run compares with earlier ones, which must be known.
std::string known_runs_words(const Profile& profile);
/// The machine's speeds in percent of the best known; empty where none is.
std::string probes_words(const Analysis& analysis);

/// Shares of the kinds of calls and of computation in all the time of the ranks that others waited for; nothing without
/// segments.
std::string spent_words(const SecondsByKind& spent);

/// What the operating system saw of the run; nothing of what it does not count or what did not happen.
std::string evidence_words(const Profile& profile, const Attribution& attribution);
/// And of all that ran on its hosts.
std::string host_evidence_words(const Profile& profile);

}  // namespace halcyon
