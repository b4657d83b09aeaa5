// How the texts for a terminal are laid out: a label, then its content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halcyon {

inline constexpr std::size_t label_width = 18;

/// Columns on a terminal, of texts that have no wide characters.
std::size_t columns_of(std::string_view utf8);

/// The beginning and the content, in lines of at most 80 columns where its words allow, which continue below `indent`.
/// A number stays on a line with its unit; control characters become spaces.
std::string filled(std::string_view beginning, std::size_t indent, std::string content);
/// One line "  label   content", or more, which continue under the content.
std::string wrapped(std::string_view label, std::string content);

}  // namespace halcyon
