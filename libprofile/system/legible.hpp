// Text from files, programs and users as it is shown: in a line that nothing in it can break, steer or turn around. All
// outputs that people read, and all formats of other tools, take their texts from here.
#pragma once

#include <array>
#include <cstddef>
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

/// What stands for a character that steers, or for a byte that is not UTF-8.
class Escape {
 public:
  explicit Escape(const Character& character) {
    constexpr std::string_view short_ones = "\nn\rr\tt";
    const std::size_t at = character.is_utf8 ? short_ones.find(static_cast<char>(character.code)) : short_ones.npos;
    if (character.code < ' ' && at != short_ones.npos) {
      put(short_ones[at + 1]);
      return;
    }
    put(character.is_utf8 ? 'u' : 'x');
    for (int shift = character.is_utf8 ? 12 : 4; shift >= 0; shift -= 4) {
      put("0123456789abcdef"[character.code >> static_cast<unsigned>(shift) & 0xfu]);
    }
  }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  void put(char letter) { text_[size_++] = letter; }

  std::array<char, 6> text_{'\\'};
  std::size_t size_ = 1;
};

/// Passes a text on in pieces of which none steers. It allocates nothing, so that handlers of signals may call it.
template <class Take>
void pass_legible(std::string_view text, bool keeps_line_ends, Take&& take) {
  std::size_t plain = 0;  // bytes that are not passed on yet
  while (plain < text.size()) {
    const Character next = first_character(text.substr(plain));
    if (next.code == '\n' ? keeps_line_ends : next.is_utf8 && !steers(next.code)) {
      plain += next.bytes;
      continue;
    }
    take(text.substr(0, plain));
    take(Escape(next).text());
    text.remove_prefix(plain + next.bytes);
    plain = 0;
  }
  take(text);
}

/// One line of UTF-8. What steers is written as JSON writes it ("\n", "\u001b"), a byte that is not UTF-8 as "\xff".
/// Everything else stays as it is, so that a text that is legible already does not change.
inline std::string legible(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  pass_legible(text, false, [&result](std::string_view piece) { result += piece; });
  return result;
}

/// The same for a text whose line ends are ours. Of JSON, it makes JSON with the same contents.
inline std::string legible_lines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  pass_legible(text, true, [&result](std::string_view piece) { result += piece; });
  return result;
}

}  // namespace halcyon
