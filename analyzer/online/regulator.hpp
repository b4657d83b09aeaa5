// When a program of low importance steps aside: it is suspended while its own progress is poor, since contention slows
// down both sides. Douceur and Bolosky (SOSP 1999), sections 4.1 to 4.4. It reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyzer/online/sign_test.hpp"
#include "analyzer/online/target_rates.hpp"

namespace halcyon {

struct RegulatorSettings {
  SignTestSettings test;
  CalibrationSettings calibration;
  /// Testpoints are made at least once per few hundred milliseconds (section 4.1).
  double testpoint_seconds = 0.3;
  /// Progress counts as below its target if it took this share longer. The paper has none: since the target is a mean,
  /// half of all testpoints are then below it. If the speed of the machine wanders, an undisturbed program is then
  /// suspended. With a tolerance, progress is also poor, and at once, if a rank waited for a CPU for more than this
  /// share of the time since others had it.
  double tolerance = 0.0;
  /// The first suspension after good progress; each further one takes twice as long. The share of equation 3 holds if
  /// it is as long as a testpoint.
  double first_suspension_seconds = 0.3;
  /// No suspension is longer. The paper's time constant of 7 days is n / m times that (equation 7).
  double most_suspension_seconds = 300.0;
  /// Number of first testpoints that are used only for calibration. The paper calls this "briefly".
  std::size_t bootstrap_testpoints = 30;
  /// For this time after the bootstrap, the program runs for no more than the given share of the time, since it may
  /// have been calibrated while it was disturbed. The paper does not give the values; 0 s: no probation.
  double probation_seconds = 0.0;
  double probation_share = 0.5;
};

enum class RegulatorPhase : std::uint8_t { bootstrap, probation, regulated };

/// What the program must do after a testpoint.
struct Regulation {
  Judgment judgment = Judgment::undecided;
  double suspend_seconds = 0.0;  // 0: continue
  // That others had: this is why the judgment is poor. How long others want them is seen, and not guessed by doubling.
  bool waited_for_cpus = false;

  bool goes_on() const { return suspend_seconds <= 0.0; }
};

class Regulator {
 public:
  /// `metrics`: how many, at least 1. With kept rates there is no bootstrap and no probation.
  Regulator(const RegulatorSettings& settings, Eigen::Index metrics, std::optional<LearnedRates> kept = {});

  /// The program starts, or continues after a suspension. `totals`: (metrics) since it began. Times in s, by one clock.
  void runs(double now, const ProgressOfMetrics& totals);
  /// Whether there is a testpoint now: it is not too early, and there was progress since the last one. Otherwise the
  /// next testpoint covers that time, too.
  bool is_testpoint(double now, const ProgressOfMetrics& totals) const;
  /// May be called at any time while the program runs. None if there is no testpoint. `waited_share`: for how much of
  /// the time since the last testpoint some rank had no CPU since others had it.
  std::optional<Regulation> testpoint(double now, const ProgressOfMetrics& totals, double waited_share = 0.0);

  RegulatorPhase phase() const { return phase_; }
  /// How long the next suspension would be, in s.
  double next_suspension_seconds() const { return suspension_; }
  const TargetRates& targets() const { return targets_; }

 private:
  Regulation regulate(Judgment judgment);
  double probation_pause(double now, double ran_seconds);

  RegulatorSettings settings_;
  TargetRates targets_;
  SignTest test_;
  RegulatorPhase phase_;
  double probation_ends_ = 0.0;
  double suspension_;
  double last_ = 0.0;
  ProgressOfMetrics last_totals_;
};

}  // namespace halcyon
