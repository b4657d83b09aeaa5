// Why a run has no verdict, and the warnings for its user. Each code is explained in docs/troubleshooting.md.
#pragma once

#include <optional>
#include <string>

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

/// Why there is no verdict, if that does not depend on the interval. Call it when the coverage and the number of judged
/// segments are set. `is_accounted`: what the kernel counted may make up for segments that do not repeat.
std::optional<NoVerdict> no_verdict(const Profile& profile, const Analysis& analysis, bool is_accounted);

/// The reason if the interval reaches from green into red.
NoVerdict no_verdict_within(const Interval& percent);

/// Adds all warnings, the reason for no verdict first. Needs the rest of the analysis.
void add_warnings(const Profile& profile, Analysis& analysis);

}  // namespace halcyon
