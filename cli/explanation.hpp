// `halcyon help CODE`: the section of docs/troubleshooting.md on a warning or a likely cause.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::cli {

/// The section in lines of at most 80 columns; nothing if no warning or cause has that code.
std::optional<std::string> explanation_of(std::string_view code);
std::vector<std::string> explained_codes();

}  // namespace halcyon::cli
