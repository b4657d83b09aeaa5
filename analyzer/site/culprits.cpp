#include "analyzer/site/culprits.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <unsupported/Eigen/FFT>

namespace halcyon {
namespace {

using Index = Eigen::Index;
using Series = Eigen::ArrayXd;                 // (slices)
using Spectrum = std::vector<std::complex<double>>;

constexpr double most_false = 0.05;  // of runs without a culprit, so many may accuse somebody
constexpr Index most_lag = 2;        // slices
constexpr Index slow_part = 8;       // of the run: what changes more slowly is no other run's doing

Series series_of(std::span<const double> values) { return Eigen::Map<const Series>(values.data(), std::ssize(values)); }

// Less the mean over the slices about each.
Series without_slow_part(const Series& values) {
  const Index half = std::max<Index>(most_lag + 1, values.size() / (2 * slow_part));
  Series sums(values.size() + 1);
  sums[0] = 0.0;
  for (Index i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  Series result(values.size());
  for (Index i = 0; i < values.size(); ++i) {
    const Index begin = std::max<Index>(0, i - half);
    const Index end = std::min(values.size(), i + half + 1);
    result[i] = values[i] - (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  return result;
}

// The series a number of slices later, round the end.
Series shifted(const Series& values, Index by) {
  Series result(values.size());
  for (Index i = 0; i < values.size(); ++i) result[(i + by + values.size()) % values.size()] = values[i];
  return result;
}

Spectrum spectrum_of(const Series& values) {
  const std::vector<double> copy(values.begin(), values.end());
  Spectrum spectrum;
  Eigen::FFT<double>().fwd(spectrum, copy);
  return spectrum;
}

// (shifts) sums of products of `left` with `right` so much later, round the end.
Series at_all_shifts(const Series& left, const Series& right) {
  Spectrum product = spectrum_of(left);
  const Spectrum other = spectrum_of(right);
  for (std::size_t i = 0; i < product.size(); ++i) product[i] *= std::conj(other[i]);
  std::vector<double> sums;
  Eigen::FFT<double>().inv(sums, product);
  return series_of(sums);
}

double root_mean_square(const Series& values) { return std::sqrt(values.square().mean()); }

// A suspect beside the loss, at each shift, in units of what is usual over all shifts; 0 if one of them is level.
struct Beside {
  Series statistic;  // (shifts) the largest one over the lags
  Index lag = 0;     // with which it is largest without a shift
};

Beside beside(const Series& loss, const Series& demand) {
  const Index n = loss.size();
  const Series products = at_all_shifts(loss, demand);
  const Series squares = at_all_shifts(loss.square(), demand.square());
  const double rounding = 1e-9 * std::sqrt(loss.square().sum() * demand.square().sum());
  Series ratio(n);
  for (Index s = 0; s < n; ++s)
    ratio[s] = std::abs(products[s]) <= rounding ? 0.0 : products[s] / std::sqrt(std::max(squares[s], rounding * rounding));
  const double usual = root_mean_square(ratio);
  Beside result{Series::Zero(n)};
  if (!(usual > 0.0)) return result;
  for (Index s = 0; s < n; ++s) {
    double most = -std::numeric_limits<double>::infinity();
    for (Index lag = -most_lag; lag <= most_lag; ++lag) {
      const double one = ratio[(s + lag + n) % n] / usual;
      if (one <= most) continue;
      most = one;
      if (s == 0) result.lag = lag;
    }
    result.statistic[s] = most;
  }
  return result;
}

double share_of_shifts_like_none(const Series& statistic) {
  return static_cast<double>((statistic >= statistic[0]).count()) / static_cast<double>(statistic.size());
}

double slope(const Series& loss, const Series& demand) {
  const double squares = demand.square().sum();
  return squares > 0.0 ? std::max(0.0, (loss * demand).sum() / squares) : 0.0;
}

/// The run and those that may have disturbed it, without what changes slowly.
class Court {
 public:
  Court(std::span<const std::vector<double>> losses, std::span<const Suspect> suspects) : suspects_(suspects) {
    for (const std::vector<double>& loss : losses) losses_.push_back(without_slow_part(series_of(loss)));
    left_ = losses_;
    for (const Suspect& suspect : suspects) demands_.push_back(without_slow_part(series_of(suspect.demand)));
    is_out_.assign(suspects.size(), false);
  }

  Accusations accusations() {
    Accusations result;
    while (const std::optional<Culprit> culprit = clearest()) {
      result.culprits.push_back(*culprit);
      is_out_[culprit->suspect] = true;
      for (const std::size_t other : culprit->or_else) is_out_[other] = true;
      explain(result.culprits, suspects_[culprit->suspect].resource);
    }
    return result;
  }

 private:
  std::optional<Culprit> clearest();
  std::vector<std::size_t> too_much_alike(std::size_t culprit) const;
  void explain(std::vector<Culprit>& culprits, std::size_t resource);
  Series demand_at(std::size_t suspect, Index lag) const { return shifted(demands_[suspect], lag); }

  std::span<const Suspect> suspects_;
  std::vector<Series> losses_;
  std::vector<Series> left_;  // of the losses, by what culprits do not explain
  std::vector<Series> demands_;
  std::vector<Index> lags_ = {};  // (culprits)
  std::vector<bool> is_out_;      // (suspects) accused, or too much like one that is
};

std::optional<Culprit> Court::clearest() {
  Culprit culprit;
  Series most;
  double clearest = -std::numeric_limits<double>::infinity();
  Index lag = 0;
  for (std::size_t i = 0; i < suspects_.size(); ++i) {
    if (is_out_[i]) continue;
    const Beside one = beside(left_[suspects_[i].resource], demands_[i]);
    most = most.size() == 0 ? one.statistic : most.max(one.statistic).eval();
    if (one.statistic[0] <= clearest) continue;
    clearest = one.statistic[0];
    culprit.suspect = i;
    lag = one.lag;
  }
  if (!(clearest > 0.0)) return std::nullopt;
  culprit.chance = share_of_shifts_like_none(most);
  if (culprit.chance > most_false) return std::nullopt;
  culprit.or_else = too_much_alike(culprit.suspect);
  lags_.push_back(lag);
  return culprit;
}

// Those that explain as much of the loss that the culprit no longer stands out.
std::vector<std::size_t> Court::too_much_alike(std::size_t culprit) const {
  const Series& loss = left_[suspects_[culprit].resource];
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < suspects_.size(); ++i) {
    if (i == culprit || is_out_[i] || suspects_[i].resource != suspects_[culprit].resource) continue;
    const Series other = demand_at(i, beside(loss, demands_[i]).lag);
    const Series left = loss - slope(loss, other) * other;
    if (share_of_shifts_like_none(beside(left, demands_[culprit]).statistic) > most_false) alike.push_back(i);
  }
  return alike;
}

void Court::explain(std::vector<Culprit>& culprits, std::size_t resource) {
  std::vector<std::size_t> members;
  for (std::size_t c = 0; c < culprits.size(); ++c)
    if (suspects_[culprits[c].suspect].resource == resource) members.push_back(c);
  const Series& loss = losses_[resource];
  Eigen::MatrixXd demands(loss.size(), std::ssize(members));
  for (std::size_t m = 0; m < members.size(); ++m)
    demands.col(static_cast<Index>(m)) = demand_at(culprits[members[m]].suspect, lags_[members[m]]);
  const Eigen::MatrixXd inverse = demands.completeOrthogonalDecomposition().pseudoInverse();
  const Eigen::VectorXd slopes = inverse * loss.matrix();
  left_[resource] = loss - (demands * slopes).array();
  for (std::size_t m = 0; m < members.size(); ++m) {
    Culprit& culprit = culprits[members[m]];
    const auto row = static_cast<Index>(m);
    const double error = root_mean_square(at_all_shifts(left_[resource], inverse.row(row).transpose().array()));
    const double demand = series_of(suspects_[culprit.suspect].demand).sum();
    culprit.lost_seconds = slopes[row] * demand;
    culprit.interval_seconds = interval_around(culprit.lost_seconds, normal_quantile_of_interval() * error * demand);
  }
}

}  // namespace

Accusations culprits_of(std::span<const std::vector<double>> losses, std::span<const Suspect> suspects) {
  const std::size_t slices = losses.empty() ? 0 : losses.front().size();
  // So many shifts find the same lag.
  static_assert(2.0 * most_lag + 1.0 <= most_false * static_cast<double>(fewest_slices_for_culprits));
  if (slices < fewest_slices_for_culprits) return {.culprits = {}, .are_slices_enough = false};
  return Court(losses, suspects).accusations();
}

}  // namespace halcyon
