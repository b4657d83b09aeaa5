// What a user can do about each warning, and how much it matters.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"

namespace halcyon {

/// The most severe first.
enum class Severity : std::uint8_t {
  no_verdict,  // there is no verdict on the run
  limits       // the result is only for a part of the run, or is less certain
};

struct WarningInfo {
  std::string_view code;
  Severity severity = Severity::limits;
  std::string_view remedy;  // a sentence
};

/// Of a warning that an analysis gave. docs/troubleshooting.md explains each under its code.
const WarningInfo& info_of_warning(std::string_view code);

/// The warnings of a result, the most severe first.
std::vector<Warning> by_severity(std::vector<Warning> warnings);

}  // namespace halcyon
