// How the texts for a terminal are laid out: a label, then its content; numbers in the words of a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace halcyon {

inline constexpr std::size_t label_width = 18;

/// One line "  label   content". Long contents break between words and continue under the first one;
/// control characters become spaces.
std::string wrapped(std::string_view label, std::string content);

/// A time with a unit that suits its size.
std::string seconds(double value);

/// "1 rank", "2 ranks".
std::string plural(std::uint64_t count, std::string_view word);

}  // namespace halcyon
