#include "analyzer/online/sampling_period.hpp"

#include <cmath>

namespace halcyon {

void SamplingPeriod::observe(double realized_seconds) {
  if (is_fixed()) return;
  if (std::abs(realized_seconds - seconds_) <= settings_.tolerance * seconds_) {
    failures_ = 0;
    ++successes_;
    return;
  }
  successes_ = 0;
  if (++failures_ < settings_.failures) return;
  failures_ = 0;
  seconds_ += settings_.step_seconds;
}

}  // namespace halcyon
