// Why a run has no verdict, and the warnings for its user.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/statistics/interval.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/system/listed_word.hpp"

namespace halcyon {

struct Analysis;

/// The codes of warnings and of reasons for no verdict: stable, in kebab-case. report/remedies.cpp says what to do
/// about each, and docs/troubleshooting.md explains it.
inline constexpr std::array<std::string_view, 23> warning_codes{{"boundary-disagreement",
                                                                 "no-boundaries",
                                                                 "no-segments",
                                                                 "low-coverage",
                                                                 "too-few-segments",
                                                                 "wide-interval",
                                                                 "too-short",
                                                                 "composed",
                                                                 "incomplete-run",
                                                                 "bypassed-calls",
                                                                 "segments-dropped",
                                                                 "boundary-rate",
                                                                 "clock-resolution",
                                                                 "partial-coverage",
                                                                 "little-repeats",
                                                                 "slow-changes",
                                                                 "crowded-cores",
                                                                 "perhaps-own",
                                                                 "slower-than-known",
                                                                 "slow-registers",
                                                                 "slow-l2",
                                                                 "slow-memory",
                                                                 "no-counter"}};
using WarningCode = ListedWord<warning_codes>;

struct Warning {
  Warning(WarningCode its_code, std::string its_message) : code(its_code.text()), message(std::move(its_message)) {}

  std::string code;
  std::string message;
};

/// Why a run has no verdict, and which results it still has.
struct NoVerdict {
  Warning reason;
  bool has_estimate = false;   // medians of groups and an estimate
  bool is_comparable = false;  // with other runs
};

/// Of how much of a run is known whether it was lost.
struct Coverage {
  std::uint64_t judged_segments = 0;
  double percent = 0.0;            // of the run time
  double accounted_percent = 0.0;  // part of that, in segments that no others are like: by what the kernel counted
};

/// Why there is no verdict, if that does not depend on the interval. `is_accounted`: what the kernel counted may make
/// up for segments that do not repeat.
std::optional<NoVerdict> no_verdict_of(const Profile& profile, const Coverage& coverage, bool is_accounted);

/// The reason if the interval reaches from green into red.
NoVerdict no_verdict_within(const Interval& percent);

/// All warnings of an analysis that has none yet, the reason for no verdict first.
std::vector<Warning> warnings_of(const Profile& profile, const Analysis& analysis);

}  // namespace halcyon
