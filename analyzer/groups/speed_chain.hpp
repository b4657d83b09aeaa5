// Two levels of durations and a chain that switches between them.
#pragma once

#include <array>
#include <vector>

namespace halcyon {

using Steps = std::vector<double>;  // logarithms of durations, in the order of time

/// Two levels, with Student's t distribution of three degrees of freedom around each, and how a chain of two states,
/// fast and slow, switches between them.
struct SpeedChain {
  std::array<double, 2> level{};  // log of the duration
  double width = 0.1;
  std::array<double, 2> leaves{0.05, 0.05};  // probability of the other state at the next step; not used in any order
  double slow_share = 0.5;
  double log_likelihood = -1e300;
  std::vector<double> slow;  // (steps) probability

  double gap() const { return level[1] - level[0]; }
  bool is_slow(std::size_t step) const { return slow[step] > 0.5; }
};

/// States follow each other as in a chain, or come in any order.
enum class Order { of_a_chain, any };

/// The most likely result of several starts, by expectation and maximization; `slow` is empty if none was found.
SpeedChain fit_speed_chain(const Steps& steps, Order order);

}  // namespace halcyon
