// Where a run's excess went: what of it is told, and the text for a terminal.
#pragma once

#include <array>
#include <string>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// False where the excess is no larger than jitter.
bool is_worth_telling(const Analysis& analysis);

std::array<ExcessKind, excess_kind_count> largest_first(const SecondsByKind& seconds);

/// A block of lines; empty where there is no verdict, or no excess worth the words.
std::string where_it_went_text(const Profile& profile, const Analysis& analysis);

}  // namespace halcyon
