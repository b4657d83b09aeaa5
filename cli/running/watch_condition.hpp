// Conditions of `halcyon watch` as the user writes them.
#pragma once

#include <string>

#include "analyzer/watch/condition.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Reads `NAME > VALUE` or `NAME < VALUE`, optionally followed by `for TIME`: `interference > 30% for 60s`. A failure
/// names the wrong column of the text, from 1 on.
Outcome<Condition> parse_condition(const std::string& text);

}  // namespace halcyon::cli
