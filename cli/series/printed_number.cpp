#include "cli/series/printed_number.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <memory>

#include "cli/console/quantity.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon::cli {

Outcome<NumberFinder> parse_read(const std::string& text) {
  const auto pattern = std::make_shared<const RE2>(text, RE2::Quiet);
  if (!pattern->ok()) return Failure{fmt::format("--read '{}' is no regular expression: {}", text, pattern->error())};
  if (pattern->NumberOfCapturingGroups() != 1) {
    return Failure{fmt::format("--read '{}' has {}: put the number, and only it, in parentheses", text,
                               plural(pattern->NumberOfCapturingGroups(), "group"))};
  }
  return NumberFinder([pattern](const std::string& line) {
    std::string match;
    return RE2::PartialMatch(line, *pattern, &match) ? number_in(match) : std::nullopt;
  });
}

}  // namespace halcyon::cli
