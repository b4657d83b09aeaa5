// Values of options with a unit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halcyon::cli {

/// A finite number and nothing else.
std::optional<double> number_in(std::string_view text);
/// "2%", "2 %" or "2": 2.
std::optional<double> percent_in(const std::string& text);
/// "90s", "1.5min", "2h", or a number of seconds.
std::optional<double> seconds_in(const std::string& text);
/// Digits only.
std::optional<std::uint64_t> whole_number_in(const std::string& text);

}  // namespace halcyon::cli
