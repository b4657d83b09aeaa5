// The machine's background: the time that fixed work loses on a rank's core while the program does not run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "libprofile/shared/clock.hpp"

namespace halcyon {

/// Times of a fixed quantum of work, in ticks; zero if nothing was measured.
struct FixedWork {
  double quantum = 0.0;  // 1 % quantile: its undisturbed time
  double mean = 0.0;
};

/// Repeats a fixed quantum of work in registers for as long as `budget` (fixed work quantum, FWQ: M. Sottile,
/// R. Minnich, "Analysis of microbenchmarks for performance tuning of clusters", IEEE Cluster 2004).
FixedWork measure_fixed_work(const Clock& clock, Ticks budget);

/// Times of repetitions of the same work, in ticks. At least one.
struct Repetitions {
  std::vector<std::uint32_t> times;
  Ticks sum;

  double mean() const { return static_cast<double>(sum.count) / static_cast<double>(times.size()); }
};

/// Repeats `work` for as long as `budget`, and at least `least` times: even if a rank loses the core for longer than
/// the budget, it has an undisturbed time. `prepare` runs before each repetition and is not in its time.
template <class Prepare, class Work>
Repetitions repeat(const Clock& clock, Ticks budget, std::size_t least, Prepare prepare, Work work) {
  constexpr std::size_t most = std::size_t{1} << 20;
  Repetitions repetitions;
  const Ticks began = clock.now();
  Ticks end = began;
  do {
    prepare();
    const Ticks start = clock.now();
    work();
    end = clock.now();
    const Ticks took = end - start;
    repetitions.sum += took;
    repetitions.times.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(took.count, std::numeric_limits<std::uint32_t>::max())));
  } while (repetitions.times.size() < least || (budget > end - began && repetitions.times.size() < most));
  return repetitions;
}

}  // namespace halcyon
