// Why a run has no verdict, and the warnings for its user. Each code is explained in docs/troubleshooting.md.
#pragma once

#include <optional>
#include <string>

#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Analysis;

struct Warning {
  std::string code;  // stable, in kebab-case
  std::string message;
};

/// Why there is no verdict, if that does not depend on the interval. Call it when the coverage and the number of judged
/// segments are set.
std::optional<Warning> reason_for_unknown(const Profile& profile, const Analysis& analysis);

/// Adds all warnings, the reason for no verdict first. Needs the rest of the analysis.
void add_warnings(const Profile& profile, Analysis& analysis);

}  // namespace halcyon
