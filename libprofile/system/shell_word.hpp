// A word of a command as it is typed in a shell.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "libprofile/system/legible.hpp"

namespace halcyon {

inline std::string quoted_word(const std::string& word) {
  constexpr std::string_view plain_signs = "%+,-./:=@_";
  const auto is_plain = [plain_signs](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80 ||
           plain_signs.find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string shown = word;
  for (std::size_t at = 0; (at = shown.find('\'', at)) != std::string::npos; at += 4) shown.replace(at, 1, "'\\''");
  return "'" + shown + "'";
}

/// The same in one line: in the words of bash, ksh and zsh, where the word itself would break the line or steer a
/// terminal.
inline std::string typed_word(const std::string& word) {
  if (legible(word) == word) return quoted_word(word);
  std::string escaped;
  for (const char c : word) escaped += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return "$'" + legible(escaped) + "'";
}

}  // namespace halcyon
