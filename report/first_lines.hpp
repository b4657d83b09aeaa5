// What the user of a run asks first: can I quote its time, how long would it have taken, what disturbed it, which rank,
// and what next. The same lines end `halcyon run` and begin a report.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Whether to quote it, its times, the cause, the rank, and what to do next: a clause each.
using FirstAnswers = std::array<std::string, 5>;
FirstAnswers first_answers(const Profile& profile, const Analysis& analysis);

/// Where the lines are read, which decides on the command that leads on.
enum class ReadIn : std::uint8_t { run, report };
struct NextCommand {
  std::string_view lead;  // from the last answer to it
  std::string words;
};
/// The command to type next.
NextCommand next_command(const std::string& file, const Profile& profile, const Analysis& analysis, ReadIn where);

/// Whether it came to its end.
bool is_whole(const Profile& profile);

/// Of a message: what comes before its first colon.
std::string headline(std::string_view message);

}  // namespace halcyon
