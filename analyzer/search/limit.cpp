#include "analyzer/search/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

namespace halcyon {
namespace {

// In the order of Response.
constexpr std::array<std::string_view, 3> names{"time", "efficiency", "rate"};

using Unit = std::pair<std::string_view, double>;
constexpr std::array<Unit, 7> units_of_time{
    {{"", 1.0}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}}};
constexpr std::array<Unit, 2> units_of_efficiency{{{"", 1.0}, {"%", 0.01}}};
constexpr std::array<Unit, 1> units_of_rate{{{"", 1.0}}};

std::span<const Unit> units_of(Response response) {
  if (response == Response::time) return units_of_time;
  return response == Response::efficiency ? std::span<const Unit>(units_of_efficiency) : units_of_rate;
}

}  // namespace

std::string_view name_of(Response response) { return names[static_cast<std::size_t>(response)]; }

Outcome<ResponseLimit> parse_limit(std::string_view text) {
  const Failure failure{fmt::format(
      "'{}' is no limit: write 'time < 10 s', 'efficiency > 0.8' or 'rate > 5', with <, <=, > or >=", text)};
  std::string words;
  std::copy_if(text.begin(), text.end(), std::back_inserter(words),
               [](unsigned char letter) { return std::isspace(letter) == 0; });
  const std::size_t sign = words.find_first_of("<>");
  if (sign == std::string::npos) return failure;
  const auto name = std::find(names.begin(), names.end(), words.substr(0, sign));
  if (name == names.end()) return failure;
  ResponseLimit limit{.response = static_cast<Response>(name - names.begin()), .is_upper = words[sign] == '<'};

  const char* begin = words.data() + sign + 1;
  const char* const end = words.data() + words.size();
  if (begin != end && *begin == '=') ++begin;
  const auto [rest, error] = std::from_chars(begin, end, limit.value);
  if (error != std::errc() || !std::isfinite(limit.value)) return failure;
  const std::string_view given(rest, static_cast<std::size_t>(end - rest));
  const std::span<const Unit> units = units_of(limit.response);
  const auto unit = std::find_if(units.begin(), units.end(), [given](const Unit& each) { return each.first == given; });
  if (unit == units.end()) return failure;
  limit.value *= unit->second;
  if (limit.value <= 0.0) return Failure{fmt::format("'{}': the limit must be above 0", text)};
  return limit;
}

std::string text_of(const ResponseLimit& limit) {
  return fmt::format("{} {} {:g}{}", name_of(limit.response), limit.is_upper ? '<' : '>', limit.value,
                     limit.response == Response::time ? " s" : "");
}

}  // namespace halcyon
