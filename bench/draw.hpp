// Runs with drawn parameters: what laws have in common.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "tests/truth/truth.hpp"

namespace halcyon::bench {

struct Draw {
  std::mt19937_64 random;
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random); }
  double log_uniform(double low, double high);
  bool with_probability(double probability) { return std::bernoulli_distribution(probability)(random); }
  template <class T, std::size_t count>
  T one_of(const T (&values)[count]) {
    return values[std::uniform_int_distribution<std::size_t>(0, count - 1)(random)];
  }
};

/// s, undisturbed and without growth.
double run_seconds(const truth::Run& run);

/// A quiet program with jitter of up to 3 %. If it is too short to be judged, its segments are made longer.
truth::Run program_of(std::vector<truth::Phase> phases, std::size_t iterations, Draw& draw, truth::Counter counter);
/// 200 to 5000 segments a group, 1 to 6 groups.
truth::Run program(Draw& draw, truth::Counter counter);

/// So many delays a segment. They add up to 1 to 45 % of the time.
void delay_by(truth::Run& run, Draw& draw, truth::DelayLaw law, double parameter, double fewest, double most);
truth::DelayLaw usual_delay(Draw& draw);
/// 0.05 to 4 a segment, of a usual law.
void delay_as_usual(truth::Run& run, Draw& draw);
/// A program that is delayed so.
truth::Run delayed(Draw& draw, truth::Counter counter);

/// Instructions or CPU time.
truth::Counter either(Draw& draw);

}  // namespace halcyon::bench
