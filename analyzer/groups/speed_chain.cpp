#include "analyzer/groups/speed_chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace halcyon {
namespace {

constexpr int most_rounds = 20;
constexpr double converged = 0.05;  // nats a round

// Student's t law of three degrees of freedom, up to its constant.
double density(double value, double level, double width) {
  const double z = (value - level) / width;
  const double spread = 1.0 + z * z / 3.0;
  return 1.0 / (width * spread * spread);
}

// Probabilities of both states at each step, given all steps up to it.
struct ForwardPass {
  std::vector<std::array<double, 2>> states;  // (steps)
  std::vector<double> scales;                 // (steps)
};

// Also sets the likelihood.
ForwardPass pass_forward(const Steps& steps, Order order, SpeedChain& model) {
  const std::size_t count = steps.size();
  ForwardPass passed{.states = std::vector<std::array<double, 2>>(count), .scales = std::vector<double>(count)};
  const std::array<double, 2> share{1.0 - model.slow_share, model.slow_share};
  const auto into = [&](const std::array<double, 2>& state, std::size_t to) {
    if (order == Order::any) return share[to];
    return state[to] * (1.0 - model.leaves[to]) + state[1 - to] * model.leaves[1 - to];
  };
  std::array<double, 2> state = share;
  double sum_of_logs = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<double, 2> before = state;
    double total = 0.0;
    for (std::size_t s = 0; s < 2; ++s) {
      state[s] = (i == 0 ? share[s] : into(before, s)) * density(steps[i], model.level[s], model.width) + 1e-300;
      total += state[s];
    }
    for (double& probability : state) probability /= total;
    passed.states[i] = state;
    passed.scales[i] = total;
    sum_of_logs += std::log(total);
  }
  model.log_likelihood = sum_of_logs;
  return passed;
}

// The probability of the slow state at each step, given all of them: the forward-backward algorithm with scaling.
void find_states(const Steps& steps, Order order, SpeedChain& model) {
  const std::size_t count = steps.size();
  const std::array<double, 2> share{1.0 - model.slow_share, model.slow_share};
  const ForwardPass passed = pass_forward(steps, order, model);
  model.slow.resize(count);
  std::array<double, 2> backward{1.0, 1.0};
  std::array<double, 2> left{};   // expected number of steps that leave a state
  std::array<double, 2> times{};  // in it
  double slow_steps = 0.0;
  for (std::size_t i = count; i-- > 0;) {
    const double total = passed.states[i][0] * backward[0] + passed.states[i][1] * backward[1];
    const double slow = passed.states[i][1] * backward[1] / total;
    model.slow[i] = slow;
    slow_steps += slow;
    if (i == 0) break;
    std::array<double, 2> seen{};
    for (std::size_t s = 0; s < 2; ++s) {
      seen[s] = density(steps[i], model.level[s], model.width) * backward[s] / passed.scales[i];
    }
    for (std::size_t s = 0; s < 2; ++s) {
      const double stays = (order == Order::any ? share[s] : 1.0 - model.leaves[s]) * seen[s];
      const double goes = (order == Order::any ? share[1 - s] : model.leaves[s]) * seen[1 - s];
      backward[s] = stays + goes;
      const double here = passed.states[i - 1][s];
      left[s] += here * goes;
      times[s] += here * backward[s];
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    if (times[s] > 0.0) model.leaves[s] = std::clamp(left[s] / times[s], 1e-6, 0.7);
  }
  model.slow_share = std::clamp(slow_steps / static_cast<double>(count), 1e-3, 1.0 - 1e-3);
}

// Levels and width from the states: weights of Student's law.
void find_levels(const Steps& steps, SpeedChain& model) {
  std::array<double, 2> weights{};
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double z = (steps[i] - model.level[s]) / model.width;
      const double weight = (s == 1 ? model.slow[i] : 1.0 - model.slow[i]) * 4.0 / (3.0 + z * z);
      weights[s] += weight;
      sums[s] += weight * steps[i];
    }
  }
  for (std::size_t s = 0; s < 2; ++s) {
    if (weights[s] > 0.0) model.level[s] = sums[s] / weights[s];
  }
  double squares = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double off = steps[i] - model.level[s];
      const double z = off / model.width;
      squares += (s == 1 ? model.slow[i] : 1.0 - model.slow[i]) * 4.0 / (3.0 + z * z) * off * off;
    }
  }
  model.width = std::max(1e-4, std::sqrt(squares / static_cast<double>(steps.size())));
}

SpeedChain fitted(const Steps& steps, Order order, double low, double log_factor) {
  SpeedChain model{.level = {low, low + log_factor}, .width = std::max(0.005, 0.3 * log_factor)};
  double before = -1e300;
  for (int round = 0; round < most_rounds; ++round) {
    find_states(steps, order, model);
    if (model.log_likelihood - before < converged) break;
    before = model.log_likelihood;
    find_levels(steps, model);
  }
  return model;
}

}  // namespace

SpeedChain fit_speed_chain(const Steps& steps, Order order) {
  Steps sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  const double rarely_slow = sorted[sorted.size() / 6];
  const double mostly_slow = sorted[2 * sorted.size() / 3];
  SpeedChain best;
  for (const double factor : {1.1, 1.4}) {
    for (const double low : {rarely_slow, mostly_slow - std::log(factor)}) {
      SpeedChain model = fitted(steps, order, low, std::log(factor));
      if (model.level[0] > model.level[1]) continue;
      if (model.log_likelihood > best.log_likelihood) best = std::move(model);
    }
  }
  return best;
}

}  // namespace halcyon
