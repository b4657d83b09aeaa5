// The machine's background: what fixed work loses on a rank's core while the program does not run.
#pragma once

#include "libprofile/record/clock.hpp"

namespace halcyon {

/// Times of a fixed quantum of work, in ticks; zero where nothing was measured.
struct FixedWork {
  double quantum = 0.0;  // 1 % quantile: what it takes undisturbed
  double mean = 0.0;
};

/// Repeats a fixed quantum of work in registers for as long as `budget` (fixed work quantum, FWQ: M. Sottile,
/// R. Minnich, "Analysis of microbenchmarks for performance tuning of clusters", IEEE Cluster 2004).
FixedWork measure_fixed_work(const Clock& clock, Ticks budget);

}  // namespace halcyon
