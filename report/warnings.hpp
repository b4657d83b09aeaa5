// What a user can do about each warning, and how much it matters.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"

namespace halcyon {

/// In order of weight.
enum class Severity : std::uint8_t {
  no_verdict,  // nothing can be said of the run
  limits,      // what is said holds for less than the whole run, or is less sure
  note
};

struct WarningInfo {
  std::string_view code;
  Severity severity = Severity::note;
  std::string_view remedy;  // a sentence
};

/// All that an analysis may warn of; each is explained in docs/troubleshooting.md under its code.
std::span<const WarningInfo> warning_infos();

/// `code` is one of them.
const WarningInfo& info_of_warning(std::string_view code);

/// The warnings of a result, heaviest first.
std::vector<Warning> by_severity(std::vector<Warning> warnings);

}  // namespace halcyon
