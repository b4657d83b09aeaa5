#include "libprofile/record/background.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace halcyon {
namespace {

// 50 to 100 µs on today's cores. A fixed number, so that the quantum's time also tells one machine's speed from
// another's, and a slowed machine from itself.
constexpr int steps_of_a_quantum = 32768;
constexpr std::size_t most_quanta = std::size_t{1} << 20;
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
  std::vector<std::uint32_t> times;
  Ticks sum;
  std::uint64_t state = 1;
  const Ticks began = clock.now();
  Ticks end = began;
  do {
    const Ticks start = clock.now();
    state = work(state);
    asm volatile("" : "+r"(state));  // or the work would be left out, as nobody needs its result
    end = clock.now();
    const Ticks took = end - start;
    sum += took;
    times.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(took.count, std::numeric_limits<std::uint32_t>::max())));
  } while (budget > end - began && times.size() < most_quanta);
  const auto low = times.begin() + static_cast<std::ptrdiff_t>(times.size() / quanta_per_low_one);
  std::nth_element(times.begin(), low, times.end());
  return {static_cast<double>(*low), static_cast<double>(sum.count) / static_cast<double>(times.size())};
}

}  // namespace halcyon
