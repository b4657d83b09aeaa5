// A word of a fixed list, checked by the compiler: what is told of each word of the list cannot lack one that is used.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace halcyon {

/// `list` is an array of std::string_view. Another word does not compile.
template <const auto& list>
class ListedWord {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): it stands where a literal does
  consteval ListedWord(const char* word) : word_(word) {
    if (std::find(list.begin(), list.end(), word_) == list.end()) throw "this word is not in the list";
  }

  std::string text() const { return std::string(word_); }
  constexpr std::string_view view() const { return word_; }

 private:
  std::string_view word_;
};

}  // namespace halcyon
