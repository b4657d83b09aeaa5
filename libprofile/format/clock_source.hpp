// What the recorder's clock reads. The numbers are stored in parts.
#pragma once

#include <cstdint>

namespace halcyon {

enum class ClockSource : std::uint8_t {
  monotonic = 0,           // CLOCK_MONOTONIC
  time_stamp_counter = 1,  // of x86-64
  generic_timer = 2,       // of aarch64
};

}  // namespace halcyon
