#include "analyzer/online/sign_test.hpp"

#include <cmath>
#include <numbers>

namespace halcyon {

// The sum of the chances of `below` and fewer, from the largest downwards: below half of the samples they fall quickly.
double chance_of_at_most(std::size_t below, std::size_t samples) {
  if (below >= samples) return 1.0;
  if (2 * below >= samples) return 1.0 - chance_of_at_most(samples - below - 1, samples);
  const auto n = static_cast<double>(samples);
  auto r = static_cast<double>(below);
  double chance =
      std::exp(std::lgamma(n + 1.0) - std::lgamma(r + 1.0) - std::lgamma(n - r + 1.0) - n * std::numbers::ln2);
  double sum = 0.0;
  for (; sum + chance > sum; --r) {
    sum += chance;
    chance *= r / (n - r + 1.0);
  }
  return sum;
}

double chance_of_at_least(std::size_t below, std::size_t samples) {
  // Below and not below are equally likely.
  return below == 0 ? 1.0 : below > samples ? 0.0 : chance_of_at_most(samples - below, samples);
}

double spent_alpha(std::size_t test, double alpha) {
  const auto number = static_cast<double>(test);
  const double now = std::log(number + 1.0);
  const double next = std::log(number + 2.0);
  return alpha * std::numbers::ln2 * std::log1p(1.0 / (number + 1.0)) / (now * next);
}

double log_evidence_of_poor(std::size_t below, std::size_t samples) {
  const auto n = static_cast<double>(samples);
  const auto r = static_cast<double>(below);
  const double log_beta = std::lgamma(r + 1.0) + std::lgamma(n - r + 1.0) - std::lgamma(n + 2.0);
  // P(Beta(r + 1, n - r + 1) > 1/2) = P(Bin(n + 1, 1/2) <= r).
  return (n + 1.0) * std::numbers::ln2 + log_beta + std::log(chance_of_at_most(below, samples + 1));
}

bool SignTest::is_poor() const {
  if (2 * below_ <= samples_) return false;
  if (!settings_.spends_alpha) return chance_of_at_least(below_, samples_) <= settings_.alpha;
  return log_evidence_of_poor(below_, samples_) >= -std::log(spent_alpha(test_, settings_.alpha));
}

bool SignTest::is_good() const {
  return 2 * below_ < samples_ && chance_of_at_most(below_, samples_) <= settings_.beta;
}

Judgment SignTest::add(bool is_below_target) {
  ++samples_;
  if (is_below_target) ++below_;
  const Judgment judgment = is_poor() ? Judgment::poor : is_good() ? Judgment::good : Judgment::undecided;
  const bool is_too_long = settings_.spends_alpha && samples_ >= settings_.most_samples;
  if (judgment != Judgment::undecided || is_too_long) restart();
  return judgment;
}

void SignTest::restart() {
  samples_ = below_ = 0;
  ++test_;
}

}  // namespace halcyon
