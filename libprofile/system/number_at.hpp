// Reads the numbers of files in /proc. strtod would ask for the locale.
#pragma once

#include <limits>

namespace halcyon {

/// The number that a text begins with, after blanks; `at` then points behind it. NaN if there is none.
/// Async-signal-safe.
inline double number_at(const char*& at) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  while (*at == ' ') ++at;
  const double sign = *at == '-' ? -1.0 : 1.0;
  if (*at == '-') ++at;
  if (!is_digit(*at)) return std::numeric_limits<double>::quiet_NaN();
  double number = 0.0;
  for (; is_digit(*at); ++at) number = 10.0 * number + (*at - '0');
  return sign * number;
}

}  // namespace halcyon
