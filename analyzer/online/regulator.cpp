#include "analyzer/online/regulator.hpp"

#include <algorithm>
#include <utility>

namespace halcyon {

Regulator::Regulator(const RegulatorSettings& settings, Eigen::Index metrics, std::optional<LearnedRates> kept)
    : settings_(settings),
      targets_(kept ? TargetRates(std::move(*kept), metrics, settings.calibration)
                    : TargetRates(metrics, settings.calibration)),
      test_(settings.test),
      phase_(targets_.learned().testpoints > 0 ? RegulatorPhase::regulated : RegulatorPhase::bootstrap),
      suspension_(settings.first_suspension_seconds),
      last_totals_(ProgressOfMetrics::Zero(metrics)) {}

void Regulator::runs(double now, const ProgressOfMetrics& totals) {
  last_ = now;
  last_totals_ = totals;
}

bool Regulator::is_testpoint(double now, const ProgressOfMetrics& totals) const {
  const double seconds = now - last_;
  return seconds > 0.0 && seconds >= settings_.testpoint_seconds && ((totals - last_totals_).array() > 0.0).any();
}

std::optional<Regulation> Regulator::testpoint(double now, const ProgressOfMetrics& totals, double waited_share) {
  if (!is_testpoint(now, totals)) return std::nullopt;
  const ProgressOfMetrics progress = totals - last_totals_;
  const double seconds = now - last_;
  runs(now, totals);
  // Evidence, and not a sample of progress: it needs no target, and no target is learned from it.
  if (settings_.tolerance > 0.0 && waited_share > settings_.tolerance) {
    test_.restart();
    return Regulation{
        .judgment = Judgment::poor, .suspend_seconds = settings_.first_suspension_seconds, .waited_for_cpus = true};
  }
  const bool is_below_target = seconds > (1.0 + settings_.tolerance) * targets_.target_seconds(progress);
  targets_.add(progress, seconds);

  if (phase_ == RegulatorPhase::bootstrap) {
    if (targets_.learned().testpoints < settings_.bootstrap_testpoints) return Regulation{};
    phase_ = settings_.probation_seconds > 0.0 ? RegulatorPhase::probation : RegulatorPhase::regulated;
    probation_ends_ = now + settings_.probation_seconds;
    return Regulation{};
  }
  Regulation regulation = regulate(test_.add(is_below_target));
  if (phase_ == RegulatorPhase::probation) {
    regulation.suspend_seconds = std::max(regulation.suspend_seconds, probation_pause(now, seconds));
  }
  return regulation;
}

Regulation Regulator::regulate(Judgment judgment) {
  Regulation regulation{.judgment = judgment};
  if (judgment == Judgment::good) suspension_ = settings_.first_suspension_seconds;
  if (judgment == Judgment::poor) {
    regulation.suspend_seconds = suspension_;
    suspension_ = std::min(2.0 * suspension_, settings_.most_suspension_seconds);
  }
  return regulation;
}

double Regulator::probation_pause(double now, double ran_seconds) {
  if (now >= probation_ends_) {
    phase_ = RegulatorPhase::regulated;
    return 0.0;
  }
  const double pause = ran_seconds * (1.0 / settings_.probation_share - 1.0);
  return std::min(pause, settings_.most_suspension_seconds);
}

}  // namespace halcyon
