// Errors as values: the result of a function that can fail, and the sentence that says why it failed.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "libprofile/system/legible.hpp"

namespace halcyon {

/// A failure in one line: what failed and where, and the remedy if there is one. Only `main` prints it.
struct Failure {
  Failure(const std::string& why) : message(legible(why)) {}  // NOLINT(google-explicit-constructor)

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
