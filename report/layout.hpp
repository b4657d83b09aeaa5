// How the texts for a terminal are laid out: a label, then its content.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace halcyon {

inline constexpr std::size_t label_width = 18;

/// One line "  label   content". Long contents break between words and continue under the first one;
/// control characters become spaces.
std::string wrapped(std::string_view label, std::string content);

}  // namespace halcyon
