// Where a run's excess went, as text for a terminal.
#pragma once

#include <string>

#include "analyzer/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A block of lines; empty where there is no verdict, or no excess worth the words.
std::string where_it_went_text(const Profile& profile, const Analysis& analysis);

}  // namespace halcyon
