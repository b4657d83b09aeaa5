// The names of choices, as messages and help list them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace halcyon {

/// `names` as a sentence has them: "auto, cpu or none".
template <std::size_t N>
std::string one_of(const std::array<std::string_view, N>& names) {
  std::string words(names.front());
  for (std::size_t i = 1; i < N; ++i) words.append(i + 1 < N ? ", " : " or ").append(names[i]);
  return words;
}
/// And as a placeholder has them: "auto|cpu|none".
template <std::size_t N>
std::string any_of(const std::array<std::string_view, N>& names) {
  std::string words(names.front());
  for (std::size_t i = 1; i < N; ++i) words.append("|").append(names[i]);
  return words;
}

}  // namespace halcyon
