// Prints how many instructions it takes to read the recorder's clock, from each of its sources: by the counter of
// instructions of an emulated processor, which is exact.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "libprofile/shared/clock.hpp"

namespace {

using namespace halcyon;

constexpr int reads = 1000;

std::uint64_t counted(int file) {
  std::uint64_t count = 0;
  return read(file, &count, sizeof count) == sizeof count ? count : 0;
}

template <class Read>
std::uint64_t instructions_of(int file, int times, Read read_one) {
  std::uint64_t sum = 0;
  const std::uint64_t before = counted(file);
  for (int i = 0; i < times; ++i) {
    sum += read_one();
    asm volatile("" : "+r"(sum));
  }
  return counted(file) - before;
}

// Without those of the loop itself.
double instructions_of_a_read(int file, const Clock& clock) {
  const auto read_clock = [&clock] { return clock.now().count; };
  instructions_of(file, 1, read_clock);  // the first call finds the function
  const auto beyond_one = [file](auto read_one) {
    const std::uint64_t one = instructions_of(file, 1, read_one);
    return instructions_of(file, 1 + reads, read_one) - one;
  };
  const std::uint64_t of_loop = beyond_one([] { return std::uint64_t{1}; });
  return static_cast<double>(beyond_one(read_clock) - of_loop) / reads;
}

}  // namespace

int main() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  const auto file = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL));
  if (file < 0) return 1;
  std::printf("generic timer %.1f\n", instructions_of_a_read(file, Clock(ClockSource::generic_timer)));
  std::printf("CLOCK_MONOTONIC %.1f\n", instructions_of_a_read(file, Clock(ClockSource::monotonic)));
  std::printf("source %d\n", static_cast<int>(best_clock_source()));
}
