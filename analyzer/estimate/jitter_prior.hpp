// How wide the jitter of undisturbed durations usually is.
#pragma once

namespace halcyon {

/// The prior density of jitter relative to the baseline. Up to 4.5 % it is even. Wider jitter, up to about 20 %, has
/// the density `wide` in units of that.
struct JitterPrior {
  double wide = 0.0;

  struct Point {
    double log_density;
    double slope;      // by the log of the jitter
    double curvature;  // negative second derivative by the same; never negative
  };
  Point at(double jitter) const;
};

}  // namespace halcyon
