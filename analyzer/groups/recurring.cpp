#include "analyzer/groups/recurring.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/interval.hpp"
#include "analyzer/statistics/parabola.hpp"

namespace halcyon {
namespace {

using Index = Eigen::Index;

// Numerics: segments in which a period is searched.
constexpr Index searched = 16384;

// Without their mean. What is far out tells no more than what is out.
Durations centred(Durations values) {
  const double middle = median(values);
  const double far = far_out_spreads * deviation_below(middle, lower_quartile(values));
  values = values.max(middle - far).min(middle + far);
  return values - values.mean();
}

// At each lag, the sum of products of values that are so far from each other.
std::vector<double> autocovariance(const Durations& values) {
  std::vector<double> padded(2 * static_cast<std::size_t>(values.size()), 0.0);
  std::copy(values.begin(), values.end(), padded.begin());
  Eigen::FFT<double> fft;
  std::vector<std::complex<double>> spectrum;
  fft.fwd(spectrum, padded);
  for (std::complex<double>& one : spectrum) one = std::norm(one);
  fft.inv(padded, spectrum);
  padded.resize(static_cast<std::size_t>(values.size()));
  return padded;
}

// Of one lag, for each pair of values: their median distance from 0 over all lags.
double chance_per_pair(const std::vector<double>& covariance) {
  std::vector<double> sizes;
  for (std::size_t lag = 1; lag < covariance.size(); ++lag) {
    sizes.push_back(std::abs(covariance[lag]) / std::sqrt(static_cast<double>(covariance.size() - lag)));
  }
  return median(Eigen::Map<const Durations>(sizes.data(), std::ssize(sizes))) / normal_quantile(0.75);
}

// How far values that are whole periods from each other agree beyond those one segment beside, and beyond chance, in
// standard deviations of a normal distribution. Sums of squares over the places of a period have about a chi-square
// distribution, whose cube root is nearly normal (E. B. Wilson, M. M. Hilferty, Proc. Natl. Acad. Sci. 17, 1931).
double agreement(const std::vector<double>& covariance, double chance, double period) {
  double sum = 0.0;
  double pairs = 0.0;
  const auto last = static_cast<double>(covariance.size() - 1);
  for (double at = period; at < last - 1.0; at += period) {
    const auto lag = static_cast<std::size_t>(std::lround(at));
    sum += covariance[lag] - 0.5 * (covariance[lag - 1] + covariance[lag + 1]);
    pairs += 2.0 * static_cast<double>(covariance.size() - lag);
  }
  const double freedom = period - 1.0;
  const double relative = 1.0 + sum / (chance * std::sqrt(pairs)) * std::sqrt(2.0 / freedom);
  const double variance = 2.0 / (9.0 * freedom);
  return (std::cbrt(relative) - 1.0 + variance) / std::sqrt(variance);
}

// Whatever its period, a few of them are nearly a number of segments.
bool is_of_time(const std::vector<double>& covariance, double chance, double period, double agrees) {
  for (double parts = 2.0; period / parts >= 2.0; ++parts) {
    const double shorter = period / parts;
    if (shorter != std::floor(shorter) && agreement(covariance, chance, shorter) > agrees) return true;
  }
  return false;
}

// 0 if there is none.
Index period_of(const Durations& durations) {
  const std::vector<double> covariance = autocovariance(centred(durations.head(std::min(searched, durations.size()))));
  const double chance = chance_per_pair(covariance);
  if (!(chance > 0.0)) return 0;
  const std::size_t longest = covariance.size() / static_cast<std::size_t>(fewest_for_a_level);
  double most = normal_quantile(1.0 - significance_of_work / static_cast<double>(longest));
  Index best = 0;
  for (std::size_t period = 2; period <= longest; ++period) {
    const double found = agreement(covariance, chance, static_cast<double>(period));
    if (found <= most) continue;
    most = found;
    best = static_cast<Index>(period);
  }
  return best > 0 && is_of_time(covariance, chance, static_cast<double>(best), most) ? 0 : best;
}

}  // namespace

std::optional<Durations> recurring_factors(const Durations& durations) {
  if (durations.size() < 2 * fewest_for_a_level) return std::nullopt;
  const Index period = period_of(durations);
  if (period == 0) return std::nullopt;
  Durations levels(period);
  double chance = 0.0;
  for (Index place = 0; place < period; ++place) {
    const Index size = (durations.size() - place + period - 1) / period;
    const Durations of_place = durations(Eigen::seqN(place, size, period));
    levels[place] = lower_quartile(of_place);
    const double spread = deviation_below(median(of_place), levels[place]);
    // The variance of a lower quartile of normal values is p (1 - p) / f^2 of that of one.
    chance += 1.86 * spread * spread / static_cast<double>(size * period);
  }
  const double mean = levels.mean();
  const double variance = (levels - mean).square().sum() / static_cast<double>(period - 1);
  if (!(variance > chance) || !(levels.minCoeff() > 0.0)) return std::nullopt;
  levels = 1.0 + (1.0 - chance / variance) * (levels / mean - 1.0);
  return levels.replicate(durations.size() / period + 1, 1).topRows(durations.size());
}

}  // namespace halcyon
