// Where a run's excess went, as text for a terminal, if it is worth reporting.
#pragma once

#include <array>
#include <string>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// False if the excess is no larger than jitter.
bool is_worth_telling(const Analysis& analysis);

/// The ranks that held the others up, with their shares of the excess.
std::string rank_shares_words(const Profile& profile, const Breakdown& breakdown);

std::array<ExcessKind, excess_kind_count> largest_first(const SecondsByKind& seconds);

/// Several lines; empty without a verdict or without an excess that is worth reporting.
std::string where_it_went_text(const Profile& profile, const Analysis& analysis);

}  // namespace halcyon
