// What docs/troubleshooting.md says of the code of a warning or a likely cause: `halcyon help CODE`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::cli {

/// In lines of at most 80 columns; nothing if no warning or cause has that code.
std::optional<std::string> explanation_of(std::string_view code);
std::vector<std::string> explained_codes();

}  // namespace halcyon::cli
