#include "analyzer/groups/work_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "analyzer/statistics/parabola.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double steepest = 1.5;  // of the logarithms: between the ends, and beyond
// With ranks that do the same work, both explain alike, but for chance.
constexpr double much_less = 0.5;

// Numerics: bins by work.
constexpr std::ptrdiff_t most_bins = 32;

// A parabola between the first and the last bin; beyond, it goes on straight.
class WorkModel {
 public:
  WorkModel(const Parabola& parabola, double centre, double first, double last)
      : parabola_(parabola), centre_(centre), first_(first), last_(last) {}

  bool is_too_steep() const {
    return std::log(factor_at(std::exp(last_)) / factor_at(std::exp(first_))) > steepest * (last_ - first_);
  }
  double factor_at(double work) const {
    const double x = std::log(work);
    const double inside = std::clamp(x, first_, last_);
    const double place = inside - centre_;
    const auto& c = parabola_.coefficients;
    const double slope = std::clamp(c[1] + 2.0 * c[2] * place, 0.0, steepest);
    return std::exp(c[0] + place * (c[1] + c[2] * place) + slope * (x - inside));
  }

 private:
  Parabola parabola_;
  double centre_, first_, last_;
};

// Indices in ascending order of work, in bins of about equal size. Equal amounts of work stay in one bin.
std::vector<std::vector<Eigen::Index>> bins_by_work(const Durations& work) {
  std::vector<Eigen::Index> by_work;
  const Eigen::Index stride = 1 + work.size() / static_cast<Eigen::Index>(enough_for_a_quartile);
  for (Eigen::Index i = 0; i < work.size(); i += stride) by_work.push_back(i);
  std::stable_sort(by_work.begin(), by_work.end(), [&](Eigen::Index a, Eigen::Index b) { return work[a] < work[b]; });
  std::vector<std::vector<Eigen::Index>> bins;
  const auto size = static_cast<std::ptrdiff_t>(by_work.size());
  const std::ptrdiff_t size_of_bin = size / std::clamp<std::ptrdiff_t>(size / fewest_for_a_level, 1, most_bins);
  for (auto from = by_work.begin(), to = from; from != by_work.end(); from = to) {
    to = by_work.end() - from > size_of_bin ? from + size_of_bin : by_work.end();
    to = std::find_if(to, by_work.end(), [&](Eigen::Index i) { return work[i] != work[*(to - 1)]; });
    if (to - from >= fewest_for_a_level) bins.emplace_back(from, to);
  }
  return bins;
}

struct DurationsAtWork {
  Durations durations;
  Durations work;
};

DurationsAtWork of_members(const Profile& profile, const FeatureColumn& work, std::span<const std::uint32_t> members) {
  const auto size = static_cast<Eigen::Index>(members.size());
  DurationsAtWork result{Durations(size), Durations(size)};
  for (Eigen::Index i = 0; i < size; ++i) {
    const std::uint32_t segment = members[static_cast<std::size_t>(i)];
    result.durations[i] = static_cast<double>(profile.duration[segment]);
    result.work[i] = work.bins[work.bin_of(segment)];
  }
  return result;
}

// Mean distance from the lower quartile to the median of the durations at about the same work, relative to these: what
// the work does not explain, without the delays.
double spread_at_equal_work(const Profile& profile, std::span<const std::span<const std::uint32_t>> kinds,
                            const FeatureColumn& work) {
  double spread = 0.0;
  double weight = 0.0;
  for (const std::span<const std::uint32_t> members : kinds) {
    if (members.size() < 2 * fewest_for_a_level) continue;
    const DurationsAtWork at = of_members(profile, work, members);
    for (const std::vector<Eigen::Index>& bin : bins_by_work(at.work)) {
      const Durations durations = at.durations(bin);
      const double middle = median(durations);
      spread += static_cast<double>(bin.size()) * (middle - lower_quartile(durations));
      weight += static_cast<double>(bin.size()) * middle;
    }
  }
  return weight > 0.0 ? spread / weight : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<Durations> work_factors(const Durations& durations, const Durations& work) {
  if (durations.minCoeff() <= 0.0 || work.minCoeff() <= 0.0) return std::nullopt;

  std::vector<double> middles;
  std::vector<double> levels;
  for (const std::vector<Eigen::Index>& bin : bins_by_work(work)) {
    middles.push_back(std::log(work(bin).mean()));
    levels.push_back(std::log(lower_quartile(durations(bin))));
  }
  if (std::ssize(levels) <= Parabola::coefficient_count) return std::nullopt;
  const Eigen::Map<const Durations> x(middles.data(), static_cast<Eigen::Index>(middles.size()));
  const Eigen::Map<const Durations> y(levels.data(), static_cast<Eigen::Index>(levels.size()));
  const double centre = x.mean();
  const Parabola parabola = fit_parabola(x - centre, y);
  if (!parabola.is_significant(x.size(), significance_of_work)) return std::nullopt;

  const WorkModel model(parabola, centre, middles.front(), middles.back());
  if (model.is_too_steep()) return std::nullopt;
  const Durations factors = work.unaryExpr([&model](double amount) { return model.factor_at(amount); });
  return factors / factors.mean();
}

std::optional<Durations> work_factors(const Profile& profile, const FeatureColumn& work,
                                      std::span<const std::uint32_t> members) {
  const DurationsAtWork at = of_members(profile, work, members);
  return work_factors(at.durations, at.work);
}

const FeatureColumn& explaining_work(const Profile& profile, std::span<const std::span<const std::uint32_t>> kinds) {
  const FeatureColumn& median_work = profile.features[index_of(Feature::compute)];
  if (profile.largest_work.index.empty()) return median_work;
  const double with_median = spread_at_equal_work(profile, kinds, median_work);
  const double with_largest = spread_at_equal_work(profile, kinds, profile.largest_work);
  return with_largest < much_less * with_median ? profile.largest_work : median_work;
}

FeatureColumn column_of(std::size_t segments, bool reduced,
                        const std::function<double(std::size_t segment)>& value_of) {
  constexpr double per_bin =
      1e-3;  // Numerics: logarithm; all values that a number can have fit into the 16 bits of an index
  FeatureColumn column{.reduced = reduced};
  std::map<long, std::uint16_t> bins;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    const double value = value_of(segment);
    const long place = value >= 1.0 ? std::lround(std::log(value) / per_bin) : -1;
    const auto [known, is_new] = bins.try_emplace(place, static_cast<std::uint16_t>(column.bins.size()));
    if (is_new) column.bins.push_back(value);
    column.index.push_back(known->second);
  }
  return column;
}

std::optional<FeatureColumn> work_with_devices(const Profile& profile, const FeatureColumn& work) {
  const std::vector<float>& on_device = profile.last_rank_times[static_cast<std::size_t>(TimeKind::device)];
  const bool uses_devices = std::ranges::any_of(on_device, [](float seconds) { return seconds > 0.0F; });
  if (profile.counter != "cpu" || !uses_devices) return std::nullopt;
  const FeatureColumn& items = profile.features[index_of(Feature::device_items)];
  std::vector<std::vector<float>> times(items.bins.size());
  for (std::size_t i = 0; i < on_device.size(); ++i) times[items.bin_of(i)].push_back(on_device[i]);
  std::vector<double> usual;  // ns
  for (std::vector<float>& of_bin : times) {
    if (!of_bin.empty()) sort_ascending(of_bin);
    usual.push_back(of_bin.empty() ? 0.0 : 1e9 * static_cast<double>(of_bin[of_bin.size() / 4]));
  }
  return column_of(on_device.size(), work.reduced,
                   [&](std::size_t i) { return work.bins[work.bin_of(i)] + usual[items.bin_of(i)]; });
}

}  // namespace halcyon
