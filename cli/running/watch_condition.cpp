#include "cli/running/watch_condition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/console/quantity.hpp"

namespace halcyon::cli {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// Where a part of the text begins, in columns.
std::size_t column_of(std::string_view text, std::size_t from) {
  return std::min(text.find_first_not_of(' ', from), text.size()) + 1;
}

}  // namespace

Outcome<Condition> parse_condition(const std::string& text) {
  const auto wrong = [&text](std::size_t from, const std::string& what) {
    return Failure{fmt::format("'{}', column {}: {}", text, column_of(text, from), what)};
  };
  const std::size_t sign = text.find_first_of("<>");
  const std::string name = trimmed(std::string_view(text).substr(0, sign));
  const auto known = std::find(watched_names.begin(), watched_names.end(), name);
  if (known == watched_names.end()) {
    return wrong(0, fmt::format("'{}' is none of {}", name, fmt::join(watched_names, ", ")));
  }
  if (sign == std::string::npos) return wrong(text.find(name) + name.size(), "expected < or >");
  Condition condition{.watched = static_cast<Watched>(known - watched_names.begin()), .is_above = text[sign] == '>'};

  const std::size_t at_value = sign + 1;
  const std::size_t at_for = std::min(text.find(" for ", at_value), text.size());
  const std::string value = trimmed(std::string_view(text).substr(at_value, at_for - at_value));
  const bool is_time = condition.watched == Watched::standstill;
  const std::optional<double> limit = is_time ? seconds_in(value) : percent_in(value);
  if (!limit || *limit < 0.0) {
    return wrong(at_value, fmt::format("'{}' is no {}", value, is_time ? "time such as 60s" : "share such as 30%"));
  }
  condition.limit = *limit;
  if (at_for == text.size()) return condition;

  const std::size_t at_time = at_for + std::string_view(" for ").size();
  const std::string time = trimmed(std::string_view(text).substr(at_time));
  const std::optional<double> for_seconds = seconds_in(time);
  if (!for_seconds) return wrong(at_time, fmt::format("'{}' is no time such as 60s", time));
  condition.for_seconds = *for_seconds;
  return condition;
}

}  // namespace halcyon::cli
