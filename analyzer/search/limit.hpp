// The limit that a search must meet, as the user writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// What is compared with the limit. `time`: of the run, in seconds. `efficiency`: ranks times time at the smallest
/// load, divided by ranks times time of the run. `rate`: a number that the program prints, or the load per second of
/// `time`.
enum class Response : std::uint8_t { time, efficiency, rate };
std::string_view name_of(Response response);

struct ResponseLimit {
  Response response = Response::time;
  bool is_upper = true;  // the response must be at most the value; otherwise at least
  double value = 0.0;

  bool is_met_by(double measured) const { return is_upper ? measured <= value : measured >= value; }
};

/// Reads `time < 10 s`, `efficiency > 0.8`, `efficiency > 80%` or `rate > 5`. Units of times are ns, us, ms, s, min and
/// h; a time without a unit is in seconds.
Outcome<ResponseLimit> parse_limit(std::string_view text);

/// "time < 10 s"
std::string text_of(const ResponseLimit& limit);

}  // namespace halcyon
