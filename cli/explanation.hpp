// `halcyon help CODE`: what docs/troubleshooting.md says of a code (cli/codes.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::cli {

/// The sections under that heading, in lines of at most 80 columns; nothing if there is none.
std::optional<std::string> explanation_of(std::string_view code);
std::vector<std::string> explained_codes();

}  // namespace halcyon::cli
