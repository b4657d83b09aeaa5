// The number that a run prints, found by the user's --read.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// The number in a line, if there is one.
using NumberFinder = std::function<std::optional<double>(const std::string& line)>;

/// Of a regular expression with one group, which is a number. RE2 needs time linear in the text, for any expression.
Outcome<NumberFinder> parse_read(const std::string& text);

}  // namespace halcyon::cli
