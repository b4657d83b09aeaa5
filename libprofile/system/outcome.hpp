// Errors as values: the result of a function that can fail, and the sentence that says why it failed.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace halcyon {

/// Makes text from files, programs and users fit to be shown in a line: characters that would break the line or steer a
/// terminal (C0, DEL, and C1 in UTF-8) become spaces.
inline std::string one_line(std::string text) {
  const auto at = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (at(i) < 0x20 || at(i) == 0x7f) text[i] = ' ';
    if (i > 0 && at(i - 1) == 0xc2 && at(i) >= 0x80 && at(i) < 0xa0) text[i - 1] = text[i] = ' ';
  }
  return text;
}

/// A failure in one line: what failed and where, and the remedy if there is one. Only `main` prints it.
struct Failure {
  Failure(std::string why) : message(one_line(std::move(why))) {}  // NOLINT(google-explicit-constructor)

  std::string message;
};

/// A value or a Failure (std::expected in a later standard).
template <class T>
class Outcome {
 public:
  Outcome(T value) : content_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Outcome(Failure failure) : content_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return content_.index() == 0; }
  T& operator*() { return std::get<0>(content_); }
  const T& operator*() const { return std::get<0>(content_); }
  T* operator->() { return &std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }
  const Failure& failure() const { return std::get<1>(content_); }

 private:
  std::variant<T, Failure> content_;
};

struct Done {};
using Status = Outcome<Done>;

}  // namespace halcyon
