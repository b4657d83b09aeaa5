#include "analyzer/site/culprits.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <unsupported/Eigen/FFT>
#include <utility>

namespace halcyon {
namespace {

using Index = Eigen::Index;
using BySlice = Eigen::ArrayXd;  // (slices)
using Spectrum = std::vector<std::complex<double>>;

constexpr double most_false = 0.05;          // of runs without a culprit, so many may accuse somebody
constexpr double again = 0.8;                // of the products: the demand fits nearly as well
constexpr Index most_lag = 2;                // slices
constexpr Index slow_part = 8;               // of the run: what changes more slowly is no other run's doing
constexpr std::array powers{1.0, 0.5, 0.0};  // of the demand: what is full is not slower for more
constexpr std::size_t most_culprits = 16;    // Numerics

BySlice by_slice(std::span<const double> values) {
  return Eigen::Map<const BySlice>(values.data(), std::ssize(values));
}

Index half_of_slow_part(Index slices) { return std::max<Index>(most_lag + 1, slices / (2 * slow_part)); }

// Less the mean over the slices about each.
BySlice without_slow_part(const BySlice& values) {
  const Index half = half_of_slow_part(values.size());
  BySlice sums(values.size() + 1);
  sums[0] = 0.0;
  for (Index i = 0; i < values.size(); ++i) sums[i + 1] = sums[i] + values[i];
  BySlice result(values.size());
  for (Index i = 0; i < values.size(); ++i) {
    const Index begin = std::max<Index>(0, i - half);
    const Index end = std::min(values.size(), i + half + 1);
    result[i] = values[i] - (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  return result;
}

// A few slices in which very much was lost, by whatever, would hide all others.
BySlice tamed(const BySlice& loss) { return loss.sign() * loss.abs().sqrt(); }

// As many slices later; what comes in is 0.
BySlice later(const BySlice& values, Index slices) {
  BySlice result = BySlice::Zero(values.size());
  const Index size = values.size() - std::abs(slices);
  result.segment(std::max<Index>(0, slices), size) = values.segment(std::max<Index>(0, -slices), size);
  return result;
}

/// A series with what all its comparisons need.
struct Compared {
  BySlice values;
  Spectrum spectrum;
  Spectrum of_squares;

  explicit Compared(BySlice series) : values(std::move(series)) {
    spectrum = spectrum_of(values);
    of_squares = spectrum_of(values.square());
  }
  // Twice as long, and a power of two: nothing that is shifted over the end comes back.
  static Spectrum spectrum_of(const BySlice& values) {
    std::vector<double> padded(2 * std::bit_ceil(static_cast<std::size_t>(values.size())), 0.0);
    std::copy(values.begin(), values.end(), padded.begin());
    Spectrum spectrum;
    Eigen::FFT<double>().fwd(spectrum, padded);
    return spectrum;
  }
};

// For shifts from -`most` to `most`: sums of products of the first series with the second one so much later.
BySlice at_shifts(const Spectrum& first, const Spectrum& second, Index most) {
  Spectrum product(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) product[i] = first[i] * std::conj(second[i]);
  std::vector<double> sums;
  Eigen::FFT<double>().inv(sums, product);
  BySlice result(2 * most + 1);
  for (Index s = -most; s <= most; ++s)
    result[most + s] = sums[static_cast<std::size_t>(s < 0 ? s + std::ssize(sums) : s)];
  return result;
}

/// How well a demand fits a loss at each shift; the middle one is none.
struct Fit {
  BySlice products;    // (shifts) with the best of the lags, in a unit that is the same at all shifts
  BySlice deviations;  // (shifts) the same, in standard deviations of a normal distribution
  Index lag = 0;       // without a shift

  double here() const { return deviations[deviations.size() / 2]; }
};

// (shifts) Sums of products; a short overlap has less to show, so what is left of it counts as much as the whole.
BySlice products_of(const Compared& loss, const Compared& demand, Index most) {
  const Index n = loss.values.size();
  const BySlice products = at_shifts(loss.spectrum, demand.spectrum, most);
  const BySlice squares = at_shifts(loss.of_squares, demand.of_squares, most);
  const double rounding = 1e-9 * std::sqrt(loss.values.square().sum() * demand.values.square().sum());
  BySlice ratio = BySlice::Zero(2 * most + 1);
  for (Index i = 0; i < ratio.size(); ++i) {
    if (std::abs(products[i]) <= rounding) continue;
    const auto overlap = static_cast<double>(n - std::abs(i - most));
    ratio[i] = products[i] / std::sqrt(std::max(squares[i], rounding * rounding) * overlap / static_cast<double>(n));
  }
  return ratio;
}

// (shifts) The same, in standard deviations of what it would be without the loss by this demand in it.
BySlice in_deviations(const BySlice& products, const Compared& demand) {
  // If the demand explained the loss at shift s, there would be products(s) a(s' - s) of it at shift s', with the
  // autocorrelation a of the demand. What is left at all other shifts is the noise.
  const double power = demand.values.square().sum();
  if (!(power > 0.0) || !(products.square().sum() > 0.0)) return BySlice::Zero(products.size());
  const Index most = products.size() / 2;
  const BySlice alike = at_shifts(demand.spectrum, demand.spectrum, most) / power;
  const Compared of_products(products);
  const Compared of_alike(alike);
  const BySlice explained = at_shifts(of_products.spectrum, of_alike.spectrum, most);
  const double squares_alike = alike.square().sum();
  const auto shifts = static_cast<double>(products.size());
  const BySlice noise =
      ((products.square().sum() - 2.0 * products * explained + products.square() * squares_alike) / shifts)
          .max(0.0)
          .sqrt();
  // Student's t with as many degrees of freedom as there are independent shifts, as a normal value (D. L. Wallace, Ann.
  // Math. Stat. 30, 1959): so suspects that did something twice or a hundred times can be compared.
  const double freedom = std::max(1.0, shifts / squares_alike - 1.0);
  const BySlice t = products / noise.max(1e-9 * products.abs().maxCoeff());
  const double scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * std::sqrt(freedom);
  return t.sign() * scale * (1.0 + t.square() / freedom).log().sqrt();
}

// Each is the largest one of those with a lag up to the most.
BySlice best_of_lags(const BySlice& values) {
  BySlice best(values.size() - 2 * most_lag);
  for (Index s = 0; s < best.size(); ++s) best[s] = values.segment(s, 2 * most_lag + 1).maxCoeff();
  return best;
}

Fit fit_of(const Compared& loss, const Compared& demand) {
  const Index most = loss.values.size() / 2;
  const BySlice products = products_of(loss, demand, most + most_lag);
  const BySlice deviations = in_deviations(products, demand);
  Fit fit{best_of_lags(products), best_of_lags(deviations)};
  deviations.segment(most, 2 * most_lag + 1).maxCoeff(&fit.lag);
  fit.lag -= most_lag;
  return fit;
}

// Of shifts that fit as well as none; far from none, as well as so much of that.
double share_as_well(const BySlice& at_shift, double far) {
  const Index most = at_shift.size() / 2;
  const Index near = half_of_slow_part(most);
  const double here = at_shift[most];
  Index count = 0;
  for (Index s = -most; s <= most; ++s) count += at_shift[most + s] >= (std::abs(s) <= near ? here : far * here);
  return static_cast<double>(count) / static_cast<double>(at_shift.size());
}

BySlice to_the_power(const std::vector<double>& demand, double power) {
  return by_slice(demand).unaryExpr([power](double amount) { return amount > 0.0 ? std::pow(amount, power) : 0.0; });
}

/// A suspect's demand, to a power, so much later than it was.
struct Use {
  std::size_t suspect = 0;
  std::size_t power = 0;
  Index lag = 0;
};

/// The run and those that may have disturbed it, without what changes slowly.
class Court {
 public:
  Court(std::span<const std::vector<double>> losses, std::span<const Suspect> suspects)
      : suspects_(suspects), is_out_(suspects.size(), false) {
    for (const std::vector<double>& loss : losses) {
      losses_.push_back(without_slow_part(by_slice(loss)));
      left_.push_back(losses_.back());
    }
    for (const Suspect& suspect : suspects) {
      std::vector<Compared>& demands = demands_.emplace_back();
      for (const double power : powers) demands.emplace_back(without_slow_part(to_the_power(suspect.demand, power)));
    }
  }

  Accusations accusations() {
    Accusations result;
    while (result.culprits.size() < most_culprits) {
      std::optional<Culprit> culprit = clearest();
      if (!culprit) break;
      is_out_[culprit->suspect] = true;
      for (const std::size_t other : culprit->or_else) is_out_[other] = true;
      result.culprits.push_back(std::move(*culprit));
      explain(result.culprits);
    }
    return result;
  }

 private:
  struct Best {
    Use use;
    BySlice at_shift;          // (shifts) with the best power at each
    double comes_again = 1.0;  // share of shifts at which the demand fits nearly as well

    double here() const { return at_shift[at_shift.size() / 2]; }
  };
  std::optional<Culprit> clearest();
  BySlice without(std::size_t suspect, const BySlice& loss) const;
  std::vector<std::size_t> too_much_alike(const Use& culprit) const;
  void explain(std::vector<Culprit>& culprits);
  Best best_fit(const Compared& loss, std::size_t suspect) const;
  BySlice demand_of(const Use& use) const { return later(demands_[use.suspect][use.power].values, use.lag); }

  std::span<const Suspect> suspects_;
  std::vector<BySlice> losses_;
  std::vector<BySlice> left_;                   // of the losses, by what culprits do not explain
  std::vector<std::vector<Compared>> demands_;  // (suspects)(powers)
  std::vector<Use> uses_;                       // (culprits)
  std::vector<bool> is_out_;                    // (suspects) accused, or too much like one that is
};

// Of all powers: what fits best without a shift.
Court::Best Court::best_fit(const Compared& loss, std::size_t suspect) const {
  Best best{.use = {.suspect = suspect}};
  double here = -std::numeric_limits<double>::infinity();
  for (std::size_t power = 0; power < powers.size(); ++power) {
    const Fit fit = fit_of(loss, demands_[suspect][power]);
    best.at_shift = power == 0 ? fit.deviations : best.at_shift.max(fit.deviations).eval();
    if (fit.here() <= here) continue;
    here = fit.here();
    best.use.power = power;
    best.use.lag = fit.lag;
    best.comes_again = share_as_well(fit.products, again);
  }
  return best;
}

std::optional<Culprit> Court::clearest() {
  BySlice most;
  Best clearest;
  double clear = 0.0;
  std::vector<Compared> losses;
  for (const BySlice& left : left_) losses.emplace_back(tamed(left));
  for (std::size_t i = 0; i < suspects_.size(); ++i) {
    if (is_out_[i]) continue;
    Best best = best_fit(losses[suspects_[i].resource], i);
    most = most.size() == 0 ? best.at_shift : most.max(best.at_shift).eval();
    if (best.here() <= clear) continue;
    clear = best.here();
    clearest = std::move(best);
  }
  if (!(clear > 0.0)) return std::nullopt;
  Culprit culprit{.suspect = clearest.use.suspect,
                  .chance = std::max(share_as_well(most, 1.0), clearest.comes_again),
                  .or_else = {}};
  if (culprit.chance > most_false) return std::nullopt;
  culprit.or_else = too_much_alike(clearest.use);
  uses_.push_back(clearest.use);
  return culprit;
}

// What is left of a loss by what this suspect's demand explains of it, at any lag and to any power.
BySlice Court::without(std::size_t suspect, const BySlice& loss) const {
  constexpr Index lags = 2 * most_lag + 1;
  Eigen::MatrixXd demands(loss.size(), lags * std::ssize(powers));
  for (std::size_t power = 0; power < powers.size(); ++power) {
    for (Index lag = 0; lag < lags; ++lag)
      demands.col(static_cast<Index>(power) * lags + lag) = demand_of({suspect, power, lag - most_lag});
  }
  return loss - (demands * demands.completeOrthogonalDecomposition().solve(loss.matrix())).array();
}

// Other runs that explain as much of the loss that the culprit no longer stands out.
std::vector<std::size_t> Court::too_much_alike(const Use& culprit) const {
  const BySlice loss = tamed(left_[suspects_[culprit.suspect].resource]);
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < suspects_.size(); ++i) {
    if (is_out_[i] || suspects_[i].run == suspects_[culprit.suspect].run) continue;
    if (share_as_well(best_fit(Compared(without(i, loss)), culprit.suspect).at_shift, 1.0) > most_false)
      alike.push_back(i);
  }
  return alike;
}

// The variance of a sum of terms that are alike near each other.
double variance_of_sum(const BySlice& terms) {
  const Index near = half_of_slow_part(terms.size());
  double variance = terms.square().sum();
  for (Index distance = 1; distance < near; ++distance) {
    const double weight = 1.0 - static_cast<double>(distance) / static_cast<double>(near);
    const Index size = terms.size() - distance;
    variance += 2.0 * weight * (terms.head(size) * terms.tail(size)).sum();
  }
  return std::max(0.0, variance);
}

// What is lost in one way is also lost in another one, so each loss is left without what the demand of all explains.
void Court::explain(std::vector<Culprit>& culprits) {
  Eigen::MatrixXd demands(losses_.front().size(), std::ssize(culprits));
  for (std::size_t c = 0; c < culprits.size(); ++c) demands.col(static_cast<Index>(c)) = demand_of(uses_[c]);
  const Eigen::MatrixXd inverse = demands.completeOrthogonalDecomposition().pseudoInverse();
  for (std::size_t resource = 0; resource < losses_.size(); ++resource) {
    const BySlice& loss = losses_[resource];
    const Eigen::VectorXd slopes = inverse * loss.matrix();
    const BySlice& left = left_[resource] = loss - (demands * slopes).array();
    for (std::size_t c = 0; c < culprits.size(); ++c) {
      Culprit& culprit = culprits[c];
      const Suspect& suspect = suspects_[culprit.suspect];
      if (suspect.resource != resource) continue;
      const auto row = static_cast<Index>(c);
      const double error = std::sqrt(variance_of_sum(inverse.row(row).transpose().array() * left));
      const double demand = to_the_power(suspect.demand, powers[uses_[c].power]).sum();
      culprit.lost_seconds = slopes[row] * demand;
      culprit.interval_seconds = interval_around(culprit.lost_seconds, normal_quantile_of_interval() * error * demand);
    }
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
