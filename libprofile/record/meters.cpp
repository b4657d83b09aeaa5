#include "libprofile/record/meters.hpp"

namespace halcyon {
namespace {

// The smallest time between two readings of the clock: its step, or the cost of reading it.
Ticks resolution_of(const Clock& clock) {
  constexpr unsigned readings = 256;
  const Ticks began = clock.now();
  Ticks last = began;
  unsigned steps = 0;
  for (unsigned i = 0; i < readings; ++i) {
    const Ticks now = clock.now();
    if (now > last) ++steps;
    last = now;
  }
  return {(last - began).count / (steps > 0 ? steps : 1)};
}

}  // namespace

void Meters::start(const CounterRequest& request, std::string& complaint) {
  counter.choose(request, complaint);
  cpu_clock_use = CpuClockUse::at(1.0 / scale.nanoseconds_per_tick());
  constexpr double noticeable_seconds = 1e-6;  // a cache miss or an interrupt adds less to a call
  noticeable_delay = ticks_of(noticeable_seconds);
  clock_resolution = resolution_of(clock);
}

}  // namespace halcyon
