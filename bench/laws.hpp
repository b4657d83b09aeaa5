// The laws on which estimates are tested: kinds of programs and machines, each with parameters that are drawn anew for
// every run. The laws on which constants were chosen are not among the reported ones.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
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

struct Law {
  std::string_view name;
  truth::Run (*draw)(Draw& draw);
};

/// The laws on which an earlier default estimator failed, then others on which it was not built.
extern const std::vector<Law> reported_laws;
/// The laws on which constants were chosen and intervals were calibrated: other laws and other parameters.
extern const std::vector<Law> calibration_laws;

}  // namespace halcyon::bench
