#include "analyzer/groups/work_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/statistics/parabola.hpp"

namespace halcyon {
namespace {

constexpr std::size_t fewest_in_bin = 12;  // for a lower quartile worth its name
constexpr std::size_t fewest_bins = 5;
constexpr std::size_t most_bins = 32;
constexpr double least_explained_by_work = 0.5;  // of the variance between bins
constexpr double significance_of_work = 1e-3;
constexpr double least_spread = 0.002;      // of the work between the first and the last bin
constexpr double steepest_end = 1.5;        // of the logarithms, beyond the first and the last bin
constexpr std::size_t most_sorted = 30000;  // segments: a baseline needs no more of them

// A parabola between the first and the last bin; beyond, it goes on straight.
class WorkModel {
 public:
  WorkModel(const Parabola& parabola, double centre, double first, double last)
      : parabola_(parabola), centre_(centre), first_(first), last_(last) {}

  double factor_at(double work) const {
    const double x = std::log(work);
    const double inside = std::clamp(x, first_, last_);
    const double place = inside - centre_;
    const auto& c = parabola_.coefficients;
    const double slope = std::clamp(c[1] + 2.0 * c[2] * place, 0.0, steepest_end);
    return std::exp(c[0] + place * (c[1] + c[2] * place) + slope * (x - inside));
  }

 private:
  Parabola parabola_;
  double centre_, first_, last_;
};

}  // namespace

std::optional<Durations> work_factors(const Durations& durations, const Durations& work) {
  const Eigen::Index size = durations.size();
  if (static_cast<std::size_t>(size) < fewest_in_bin * fewest_bins || durations.minCoeff() <= 0.0) return std::nullopt;
  const double least = work.minCoeff();
  if (least <= 0.0 || work.maxCoeff() <= least * (1.0 + least_spread)) return std::nullopt;
  std::vector<Eigen::Index> by_work;
  const std::size_t stride = 1 + static_cast<std::size_t>(size) / most_sorted;
  for (Eigen::Index i = 0; i < size; i += static_cast<Eigen::Index>(stride)) by_work.push_back(i);
  std::stable_sort(by_work.begin(), by_work.end(), [&](Eigen::Index a, Eigen::Index b) { return work[a] < work[b]; });
  const std::size_t bins = std::min(most_bins, by_work.size() / fewest_in_bin);

  // Equal amounts of work stay in one bin.
  std::vector<double> middles;
  std::vector<double> levels;
  for (std::size_t from = 0, to = 0; from < by_work.size(); from = to) {
    to = std::min(by_work.size(), from + by_work.size() / bins);
    while (to < by_work.size() && work[by_work[to]] == work[by_work[to - 1]]) ++to;
    if (to - from < fewest_in_bin) continue;
    Durations members(static_cast<Eigen::Index>(to - from));
    double sum = 0.0;
    for (std::size_t i = from; i < to; ++i) {
      members[static_cast<Eigen::Index>(i - from)] = durations[by_work[i]];
      sum += work[by_work[i]];
    }
    middles.push_back(std::log(sum / static_cast<double>(to - from)));
    levels.push_back(std::log(lower_quartile(members)));
  }
  if (levels.size() < fewest_bins) return std::nullopt;
  if (middles.back() - middles.front() < least_spread) return std::nullopt;
  const Eigen::Map<const Durations> x(middles.data(), static_cast<Eigen::Index>(middles.size()));
  const Eigen::Map<const Durations> y(levels.data(), static_cast<Eigen::Index>(levels.size()));
  const double centre = x.mean();
  const Parabola parabola = fit_parabola(x - centre, y);
  if (parabola.residual > (1.0 - least_explained_by_work) * parabola.variation) return std::nullopt;
  if (!parabola.is_significant(x.size(), significance_of_work)) return std::nullopt;

  const WorkModel model(parabola, centre, middles.front(), middles.back());
  const Durations factors = work.unaryExpr([&model](double amount) { return model.factor_at(amount); });
  return factors / factors.mean();
}

std::optional<Durations> work_factors(const Profile& profile, const FeatureColumn& work,
                                      std::span<const std::uint32_t> members) {
  Durations durations(static_cast<Eigen::Index>(members.size()));
  Durations amounts(durations.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    durations[static_cast<Eigen::Index>(i)] = static_cast<double>(profile.duration[members[i]]);
    amounts[static_cast<Eigen::Index>(i)] = work.bins[work.bin_of(members[i])];
  }
  return work_factors(durations, amounts);
}

}  // namespace halcyon
