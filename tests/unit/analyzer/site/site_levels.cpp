#include "analyzer/site/site_levels.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace halcyon;

TEST(SiteLevels, ScatterIsWhatErrorsDoNotExplain) {
  std::mt19937_64 random(1);
  std::vector<double> values;
  std::vector<double> errors;
  for (std::size_t i = 0; i < 40000; ++i) {
    errors.push_back(i % 2 == 0 ? 0.01 : 0.03);
    values.push_back(std::normal_distribution<>(i < 20000 ? 0.0 : 1.0, std::hypot(errors.back(), 0.02))(random));
  }
  EXPECT_NEAR(*scatter_of_steps(values, errors), 0.02, 0.002);
  EXPECT_FALSE(scatter_of_steps(std::vector{1.0, 2.0}, std::vector{0.1, 0.1}));
  EXPECT_LT(*scatter_of_steps(std::vector(9, 1.0), std::vector(9, 0.0)), 1e-4);
}

}  // namespace
