// The layout of texts for a terminal: a label, then its content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halcyon {

inline constexpr std::size_t label_width = 18;

/// Columns that a text without wide characters takes on a terminal.
std::size_t columns_of(std::string_view utf8);

/// The beginning and the content, in lines of at most 80 columns where the words allow that; continuation lines begin
/// at column `indent`. A number stays on a line with its unit; control characters become spaces.
std::string filled(std::string_view beginning, std::size_t indent, std::string content);
/// A line "  label   content", and continuation lines that begin below the content.
std::string wrapped(std::string_view label, std::string content);

}  // namespace halcyon
