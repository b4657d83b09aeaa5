// A count and its noun: the only place that makes a plural.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace halcyon {

/// "1 rank", "2 ranks". `several`: of a noun that does not just take an s, as in "2 boundaries".
std::string plural(std::integral auto count, std::string_view one, std::string_view several = {}) {
  std::string words = std::to_string(count) + " ";
  words += count == 1 || several.empty() ? one : several;
  if (count != 1 && several.empty()) words += 's';
  return words;
}

}  // namespace halcyon
