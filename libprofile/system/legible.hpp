// Text from files, programs and users as it is shown: in a line that nothing in it can break, steer or turn around. All
// outputs that people read, and all formats of other tools, take their texts from here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace halcyon {

/// The first character of a text that is not empty. A byte that begins no character of UTF-8 stands for itself.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool is_utf8 = false;
};

inline Character first_character(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  Character first{.code = at(0)};
  if (at(0) < 0x80) return {first.code, 1, true};
  const std::size_t bytes = at(0) >= 0xf0 ? 4 : at(0) >= 0xe0 ? 3 : 2;
  if (at(0) < 0xc2 || at(0) > 0xf4 || bytes > text.size()) return first;
  char32_t code = at(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0u) != 0x80u) return first;
    code = code << 6u | (at(i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};  // shorter forms of a character are not UTF-8
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[bytes] || is_surrogate || code > 0x10ffff ? first : Character{code, bytes, true};
}

/// Whether a terminal or a browser would do something else than draw it: C0, DEL and C1; ends of lines and paragraphs;
/// what changes the direction of writing.
constexpr bool steers(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x206f);
}

namespace legible_detail {

inline std::string escape(const Character& character) {
  if (character.is_utf8 && character.code == '\n') return "\\n";
  if (character.is_utf8 && character.code == '\r') return "\\r";
  if (character.is_utf8 && character.code == '\t') return "\\t";
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), character.is_utf8 ? "\\u%04x" : "\\x%02x",
                static_cast<unsigned>(character.code));
  return text.data();
}

inline std::string escaped(std::string_view text, bool keeps_line_ends) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character first = first_character(text);
    const bool is_kept = first.code == '\n' ? keeps_line_ends : first.is_utf8 && !steers(first.code);
    if (is_kept) {
      result.append(text, 0, first.bytes);
    } else {
      result += escape(first);
    }
    text.remove_prefix(first.bytes);
  }
  return result;
}

}  // namespace legible_detail

/// One line of UTF-8. What steers is written as JSON writes it ("\n", "\u001b"), a byte that is not UTF-8 as "\xff".
/// Everything else stays as it is, so that a text that is legible already does not change.
inline std::string legible(std::string_view text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
  return is_plain ? std::string(text) : legible_detail::escaped(text, false);
}

/// The same for a text whose line ends are ours. Of JSON, it makes JSON with the same contents.
inline std::string legible_lines(std::string_view text) { return legible_detail::escaped(text, true); }

}  // namespace halcyon
