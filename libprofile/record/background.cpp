#include "libprofile/record/background.hpp"

namespace halcyon {
namespace {

// 50 to 100 µs on today's cores. The number is fixed, so that the quantum's time also compares machines, and shows when
// a machine has become slower.
constexpr int steps_of_a_quantum = 32768;
constexpr std::size_t quanta_per_low_one = 100;  // the 1 % quantile

// A chain of dependent shifts (G. Marsaglia, "Xorshift RNGs", 2003): no memory, no parallelism, no shortcut.
std::uint64_t work(std::uint64_t state) {
  for (int step = 0; step < steps_of_a_quantum; ++step) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

}  // namespace

FixedWork measure_fixed_work(const Clock& clock, Ticks budget) {
  if (budget.count == 0) return {};
  std::uint64_t state = 1;
  Repetitions quanta = repeat(
      clock, budget, 1, [] {},
      [&state] {
        state = work(state);
        asm volatile("" : "+r"(state));  // or the compiler would drop the work
      });
  std::vector<std::uint32_t>& times = quanta.times;
  const auto low = times.begin() + static_cast<std::ptrdiff_t>(times.size() / quanta_per_low_one);
  std::nth_element(times.begin(), low, times.end());
  return {static_cast<double>(*low), quanta.mean()};
}

}  // namespace halcyon
