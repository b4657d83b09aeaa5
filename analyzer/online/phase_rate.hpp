// The rate of progress since it last changed. More accurate than the quantile of service_rate.hpp, which adds the
// scatter of the samples to the rate (docs/watch.md has the figures).
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/online/service_rate.hpp"
#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/running_moments.hpp"

namespace halcyon {

struct PhaseRateSettings {
  std::size_t least_samples = 8;  // before a change can be seen
  /// Deviations from the mean of the phase that count as no change. Two standard errors of that mean are added.
  double allowance = 0.5;
  double limit = 8.0;  // a sum of deviations beyond the allowance that counts as a change
};

/// All units of a phase divided by all its seconds. A two-sided CUSUM of the samples' rates (E. S. Page, Continuous
/// inspection schemes, Biometrika 41, 1954) finds a new phase when it passes its limit. The phase begins with the first
/// of the samples that led there. One sample counts for three deviations at most, so that a single one is no phase.
class PhaseRate {
 public:
  explicit PhaseRate(const PhaseRateSettings& settings = {}) : settings_(settings) {}

  /// Blocked samples do not count. Returns whether a new phase has begun.
  bool add(const RateSample& sample);

  /// In units/s; none before the first sample that counts.
  std::optional<double> rate() const;
  /// Its 90 % interval, if samples are independent; none with fewer than two.
  std::optional<Interval> interval() const;
  /// How long the phase has lasted, in s of samples that count.
  double seconds() const { return phase_.seconds; }

 private:
  struct Stretch {
    double seconds = 0.0;
    double units = 0.0;
    RunningMoments rates;
    void add(const RateSample& sample);
  };
  // One side of the CUSUM.
  struct Side {
    double sum = 0.0;
    Stretch since;  // the sum was last 0
    bool add(double beyond, const RateSample& sample, double limit);
  };

  PhaseRateSettings settings_;
  Stretch phase_;
  Side faster_;
  Side slower_;
};

}  // namespace halcyon
