// Why a run has no verdict, and the warnings for its user. Each code is explained in docs/troubleshooting.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/statistics/interval.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Analysis;

struct Warning {
  std::string code;  // stable, in kebab-case
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
