// Points of time as text: ISO 8601 in UTC, as the recorder writes them and as users give them.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

namespace halcyon {

/// "2026-11-28T09:30:00Z", or with `also_days` "2026-11-28", the beginning of that day.
inline std::optional<std::int64_t> seconds_since_1970(const std::string& time, bool also_days = false) {
  for (const char* form : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"}) {
    std::tm parts{};
    const char* end = strptime(time.c_str(), form, &parts);
    if (end != nullptr && *end == '\0') return timegm(&parts);
    if (!also_days) break;
  }
  return std::nullopt;
}

inline std::string utc_text(std::int64_t seconds_since_1970, const char* form = "%Y-%m-%dT%H:%M:%SZ") {
  const std::time_t time = seconds_since_1970;
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return "?";  // no calendar has that year
  char text[64];
  return {text, std::strftime(text, sizeof text, form, &parts)};
}

}  // namespace halcyon
