// Lines through points, against sums that can be done by hand.
#include "analyzer/statistics/line.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace halcyon;

Eigen::ArrayXd array_of(std::initializer_list<double> values) {
  Eigen::ArrayXd array(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), array.begin());
  return array;
}

TEST(FitLine, HasTheErrorsOfTwoParametersLess) {
  const std::optional<Line> line =
      fit_line(array_of({0, 1, 2, 3}), array_of({1, 2.1, 2.9, 4}), Eigen::ArrayXd::Ones(4));
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 0.98, 1e-12);
  EXPECT_NEAR(line->intercept, 1.03, 1e-12);
  EXPECT_EQ(line->freedom, 2);
  EXPECT_NEAR(line->residual, 0.018, 1e-12);
  EXPECT_NEAR(line->residual_deviation(), std::sqrt(0.009), 1e-12);
  EXPECT_NEAR(line->slope_error, std::sqrt(0.009 / 5.0), 1e-12);
  EXPECT_NEAR(line->intercept_error, std::sqrt(0.009 * 0.7), 1e-12);
  EXPECT_NEAR(line->r_squared(), 1.0 - 0.018 / 4.82, 1e-12);
}

TEST(FitLine, NeedsThreePointsThatAreApart) {
  EXPECT_FALSE(fit_line(array_of({0, 1}), array_of({0, 1}), Eigen::ArrayXd::Ones(2)));
  EXPECT_TRUE(fit_line(array_of({0, 1, 2}), array_of({0, 1, 2}), Eigen::ArrayXd::Ones(3)));
  EXPECT_FALSE(fit_line(array_of({1, 1, 1}), array_of({0, 1, 2}), Eigen::ArrayXd::Ones(3)));
}

TEST(FitLineThroughOrigin, HasTheErrorOfOneParameterLess) {
  const std::optional<Line> line = fit_line_through_origin(array_of({1, 2, 3}), array_of({2, 4.1, 5.9}));
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->slope, 27.9 / 14.0, 1e-12);
  EXPECT_EQ(line->intercept, 0.0);
  EXPECT_EQ(line->freedom, 2);
  EXPECT_NEAR(line->slope_error, std::sqrt(line->residual / 2.0 / 14.0), 1e-12);
}

TEST(FitLineThroughOrigin, NeedsTwoPoints) {
  EXPECT_FALSE(fit_line_through_origin(array_of({1}), array_of({1})));
  EXPECT_TRUE(fit_line_through_origin(array_of({1, 2}), array_of({1, 2})));
  EXPECT_FALSE(fit_line_through_origin(array_of({0, 0}), array_of({1, 2})));
}

}  // namespace
