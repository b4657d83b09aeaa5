// What is in a value of a row that was read. Of another kind: 0, or an empty text.
#pragma once

#include <cstdint>
#include <string>

#include "ledger/record/columns.hpp"

namespace halcyon::ledger {

inline double number_in(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&value);
  return number == nullptr ? 0.0 : *number;
}
inline std::int64_t whole_in(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? static_cast<std::int64_t>(number_in(value)) : *whole;
}
inline std::string text_in(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace halcyon::ledger
