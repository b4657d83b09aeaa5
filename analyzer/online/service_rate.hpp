// The rate of a server at run time, as J. C. Beard and R. D. Chamberlain estimate it ("Run Time Approximation of
// Non-blocking Service Rates for Streaming Systems", 2015, sections III and IV).
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>

#include "analyzer/statistics/running_moments.hpp"

namespace halcyon {

/// The units served in one period.
struct RateSample {
  double seconds = 0.0;     // true length of the period
  double units = 0.0;       // served in it
  bool is_blocked = false;  // at some time of it there was nothing to serve, or no room for the output
};

/// The discrete Gaussian filter of radius 2, normalised: in the paper (equation 2) its sum is 0.99087, which makes
/// rates too low.
std::array<double, 5> gaussian_filter();
/// The Laplacian of a Gaussian of radius 1 and deviation 1/2, less its mean (equation 4).
inline constexpr std::array<double, 3> laplacian_of_gaussian{1.49577, -2.99155, 1.49577};

struct ServiceRateSettings {
  double period_tolerance = 0.01;  // as a share of the period; samples of other periods are not used
  std::size_t window = 16;         // the last samples that are filtered
  double quantile = 1.64485;       // of a normal distribution at 95 %: an estimate of the maximum, in deviations
  std::size_t changes = 16;        // the last changes of the deviation that must all be small
  /// How small, as a share of the mean. Our copy of the paper does not give it.
  double tolerance = 5e-4;
};

class ServiceRate {
 public:
  explicit ServiceRate(double period_seconds, const ServiceRateSettings& settings = {});

  /// Returns a rate, in units/s, when the estimate has become stable; it then starts again.
  std::optional<double> add(const RateSample& sample);
  /// The current estimate; none before the window is full for the first time.
  std::optional<double> current() const;
  /// The last stable one.
  std::optional<double> stable() const { return stable_; }

 private:
  bool is_stable() const;
  void begin_anew();

  double period_;
  ServiceRateSettings settings_;
  std::deque<double> counts_;         // S
  RunningMoments quantiles_;          // q, whose mean is q-bar
  RunningMoments means_;              // successive q-bar
  std::array<double, 3> deviations_;  // the last ones of q-bar
  std::deque<double> changes_;        // of these
  std::optional<double> stable_;
};

}  // namespace halcyon
