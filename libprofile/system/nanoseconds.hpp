// Reads a clock of the system.
#pragma once

#include <cstdint>
#include <ctime>

namespace halcyon {

inline std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Seconds of a clock that never goes back.
inline double monotonic_seconds() { return 1e-9 * static_cast<double>(nanoseconds_of(CLOCK_MONOTONIC)); }

}  // namespace halcyon
