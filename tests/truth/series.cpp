#include "tests/truth/series.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon::truth {

SeriesSource::SeriesSource(const SeriesLaw& law, std::uint64_t seed) : law_(law), random_(seed) {
  const double share = std::uniform_real_distribution<>(-1.0, 0.5)(random_);
  if (std::bernoulli_distribution(0.5)(random_) && law.has_shared_error) shared_error_ = share;
  state_ = normal();
  is_disturbed_ = std::bernoulli_distribution(law.disturbed)(random_);
}

RepeatedRun SeriesSource::next_of_other(double slower, double further_reach) {
  constexpr double runs_of_drift = 20.0;
  std::uniform_real_distribution<> uniform;
  if (runs_ > 0) {
    state_ = law_.correlation * state_ + std::sqrt(1.0 - law_.correlation * law_.correlation) * normal();
    if (uniform(random_) >= law_.correlation) is_disturbed_ = std::bernoulli_distribution(law_.disturbed)(random_);
  }
  if (law_.quiet_after > 0) is_disturbed_ = runs_ < law_.quiet_after;
  const double expected = law_.seconds * slower;
  undisturbed_ = expected * (1.0 + law_.deviation * state_ + law_.drift * static_cast<double>(runs_) / runs_of_drift);
  double lost = law_.background * std::exponential_distribution<>(1.0)(random_);
  if (is_disturbed_) {
    constexpr double sigma = 1.0;
    lost +=
        law_.disturbance * (law_.is_heavy_tailed ? std::lognormal_distribution<>(-0.5 * sigma * sigma, sigma)(random_)
                                                 : std::exponential_distribution<>(1.0)(random_));
  }
  const double error = expected * (law_.error + law_.error_of_loss * lost);

  RepeatedRun run;
  run.measured_seconds = undisturbed_ + expected * lost;
  const double reach = further_reach * normal_quantile_of_interval() * law_.caution * error;
  const double estimate = undisturbed_ + shared_error_ * reach + error * normal();
  const double further = uniform(random_) < law_.one_sided ? 0.1 * uniform(random_) * expected : 0.0;
  run.undisturbed = {estimate, {estimate - reach - further, estimate + reach}};
  run.verdict = verdict_of(100.0 * (1.0 - estimate / run.measured_seconds));
  run.hosts = {"node"};
  ++runs_;
  return run;
}

}  // namespace halcyon::truth
