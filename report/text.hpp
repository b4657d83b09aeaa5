// A result and a profile as text for a terminal.
#pragma once

#include <string>

#include "analyzer/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

enum class Colour { never, always };

/// The report of one run: the verdict first, then what it rests on.
std::string report_text(const std::string& file, const Profile& profile, const Analysis& analysis, Colour colour);

/// The verdict in one line, for the end of `halcyon run`.
std::string verdict_line(const Profile& profile, const Analysis& analysis, Colour colour);

/// What a profile holds, without judging it.
std::string info_text(const std::string& file, const Profile& profile);

}  // namespace halcyon
