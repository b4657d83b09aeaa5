// What a result is called wherever it is drawn: numbers, verdicts and evidence in the words of a reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/analysis.hpp"
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

std::string_view words_of(ExcessKind kind);

/// How the run compares with earlier ones, which must be known.
std::string known_runs_words(const Profile& profile);
/// The machine's speeds in percent of the best known; empty where none is.
std::string probes_words(const Analysis& analysis);

/// What the operating system saw; nothing of what it does not count or what did not happen.
std::string evidence_words(const Profile& profile, const Attribution& attribution);

}  // namespace halcyon
