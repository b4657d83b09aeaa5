// How often progress is measured: the search for a stable period of J. C. Beard and R. D. Chamberlain, "Run Time
// Approximation of Non-blocking Service Rates for Streaming Systems" (2015), section IV-A.
#pragma once

#include <cstddef>

namespace halcyon {

struct SamplingSettings {
  double first_seconds = 1e-3;  // the shortest period, such as the resolution of the clock
  double step_seconds = 1e-3;   // by which it is widened
  double tolerance = 0.005;     // a sleep is stable if it takes this much more or less than the period, as a share
  std::size_t failures = 5;     // in a row, after which the period is widened
  std::size_t successes = 5;    // in a row, after which it stays
};

class SamplingPeriod {
 public:
  explicit SamplingPeriod(const SamplingSettings& settings) : settings_(settings), seconds_(settings.first_seconds) {}

  /// The true length of the last period.
  void observe(double realized_seconds);

  double seconds() const { return seconds_; }
  bool is_fixed() const { return successes_ >= settings_.successes; }

 private:
  SamplingSettings settings_;
  double seconds_;
  std::size_t failures_ = 0;
  std::size_t successes_ = 0;
};

}  // namespace halcyon
