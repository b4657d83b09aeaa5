// Series of runs that never happened, each with what it would have taken undisturbed known exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "analyzer/repeat/series_run.hpp"

namespace halcyon::truth {

/// How a program and its machine behave from run to run. Shares are of the undisturbed time.
struct SeriesLaw {
  double seconds = 100.0;       // undisturbed, on average
  double deviation = 0.005;     // standard deviation of the undisturbed time from run to run
  double correlation = 0.0;     // of a run's undisturbed time with the one before; disturbances last accordingly
  double drift = 0.0;           // change of the undisturbed time over 20 runs
  double disturbed = 0.2;       // probability of a disturbed run
  std::size_t quiet_after = 0;  // so many first runs are all disturbed, and no later one; 0: as `disturbed` says
  double disturbance = 0.15;    // mean of what a disturbed run loses
  bool is_heavy_tailed = true;  // lognormal with sigma 1; else exponential
  double background = 0.003;    // mean of what every run loses
  double error = 0.002;         // standard error of a run's estimate
  double error_of_loss = 0.05;  // more of it, as a share of what the run lost
  double caution = 2.5;         // a run's interval is so many times as wide as its error says
  double one_sided = 0.2;       // probability of an interval that reaches further down, by up to a tenth
  /// Whether the estimates have something wrong in common: in half of the series all are wrong by the same share of
  /// their intervals' reach, drawn from -1 to 0.5. bench/simulated_series --set shared shows programs like that.
  bool has_shared_error = false;
};

/// Runs in the order in which they are made.
class SeriesSource {
 public:
  SeriesSource(const SeriesLaw& law, std::uint64_t seed);
  RepeatedRun next() { return next_of_other(1.0, 1.0); }
  /// A run of another program, for comparisons: it takes `slower` times as long as the law says, and its interval and
  /// the shared error reach `further_reach` times as far.
  RepeatedRun next_of_other(double slower, double further_reach = 1.0);
  /// What the last run would have taken undisturbed.
  double undisturbed_seconds() const { return undisturbed_; }

 private:
  double normal() { return normal_(random_); }

  SeriesLaw law_;
  std::mt19937_64 random_;
  std::normal_distribution<> normal_;
  double shared_error_ = 0.0;  // share of the reach of a run's interval
  double state_ = 0.0;         // of the undisturbed time, in deviations
  bool is_disturbed_ = false;
  std::size_t runs_ = 0;
  double undisturbed_ = 0.0;
};

}  // namespace halcyon::truth
