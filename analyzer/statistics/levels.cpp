#include "analyzer/statistics/levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double cost_of_change = 1.5;   // times ln n
constexpr std::size_t most_levels = 64;  // that are tried: bits of a word
constexpr int most_rounds = 4;
constexpr double least_growth = 1.1;
constexpr double most_memory = 0.98;  // correlation of neighbours

// The median absolute step of independent normal values is 0.6745 sqrt(2) standard deviations.
double deviation_by_steps(std::span<const double> values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) steps.push_back(std::abs(values[i] - values[i - 1]));
  return steps.empty() ? 0.0 : median_in_place(steps) / (0.6745 * std::sqrt(2.0));
}

// Levels that the series has: quantiles of short stretches.
std::vector<double> tried_levels(std::span<const double> values) {
  constexpr std::size_t length = 5;
  std::vector<double> sorted = medians_of_stretches(values, values.size() >= length * most_levels ? length : 1);
  sort_ascending(std::span<double>(sorted));
  const std::size_t count = std::min(most_levels, sorted.size());
  std::vector<double> levels;
  for (std::size_t j = 0; j < count; ++j)
    levels.push_back(sorted[count > 1 ? j * (sorted.size() - 1) / (count - 1) : 0]);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

}  // namespace

double cost_of_distance(double value, double level, double deviation) {
  const double distance = std::min(most_distance, std::abs(value - level) / deviation);
  return 0.5 * distance * distance;
}

namespace {

// The mean of the values near a level.
double settled(double level, std::span<const double> values, std::span<const double> deviations) {
  double sum = 0.0;
  double weights = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - level) > most_distance * deviations[i]) continue;
    const double relative = deviations.front() / deviations[i];
    sum += relative * relative * values[i];
    weights += relative * relative;
  }
  return weights > 0.0 ? sum / weights : level;
}

// The least cost of all values so far that ends at each level: as it was, or changed from the cheapest.
std::vector<OneLevel> cheapest(std::span<const double> values, std::span<const double> levels,
                               std::span<const double> deviations, std::span<const double> costs_of_change) {
  struct Came {
    std::uint64_t by_change = 0;  // a bit for each level
    std::size_t from = 0;         // the level before the change
  };
  std::vector<Came> came(values.size());
  std::vector<double> costs(levels.size(), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto cheapest = std::ranges::min_element(costs);
    const double changed = *cheapest + costs_of_change[i];
    came[i].from = static_cast<std::size_t>(cheapest - costs.begin());
    for (std::size_t j = 0; j < levels.size(); ++j) {
      if (changed < costs[j]) {
        costs[j] = changed;
        came[i].by_change |= std::uint64_t{1} << j;
      }
      costs[j] += cost_of_distance(values[i], levels[j], deviations[i]);
    }
  }
  std::vector<OneLevel> stretches;
  auto level = static_cast<std::size_t>(std::ranges::min_element(costs) - costs.begin());
  std::size_t end = values.size();
  const auto add = [&](std::size_t begin) {
    const std::size_t size = end - begin;
    stretches.push_back(
        {{begin, end}, settled(levels[level], values.subspan(begin, size), deviations.subspan(begin, size))});
    end = begin;
  };
  for (std::size_t i = values.size() - 1; i > 0; --i) {
    if ((came[i].by_change >> level & 1) == 0) continue;
    add(i);
    level = came[i].from;
  }
  add(0);
  std::ranges::reverse(stretches);
  return stretches;
}

// The standard deviation of what the levels leave, in deviations, as that of values without memory whose means vary as
// much.
double lasting_noise(std::span<const double> values, std::span<const OneLevel> stretches,
                     std::span<const double> deviations) {
  double squares = 0.0;
  double products = 0.0;
  double count = 0.0;
  for (const auto& [stretch, level] : stretches) {
    double before = 0.0;
    for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
      const double left = std::clamp((values[i] - level) / deviations[i], -most_distance, most_distance);
      squares += left * left;
      products += left * before;
      before = left;
      count += 1.0;
    }
  }
  const double memory = squares > 0.0 ? std::clamp(products / squares, 0.0, most_memory) : 0.0;
  return std::sqrt(squares / count * (1.0 + memory) / (1.0 - memory));
}

double entropy(double share) {
  return share > 0.0 && share < 1.0 ? -share * std::log(share) - (1.0 - share) * std::log1p(-share) : 0.0;
}

// Whether neighbours are on the same side of the middle of all levels more often than in any order: the log likelihood
// ratio of a chain of two states.
bool depends_on_order(std::span<const double> values, std::span<const OneLevel> stretches) {
  const auto [low, high] = std::ranges::minmax_element(stretches, {}, &OneLevel::level);
  const double middle = 0.5 * (low->level + high->level);
  std::array<std::array<double, 2>, 2> pairs{};
  for (std::size_t i = 1; i < values.size(); ++i)
    pairs[values[i - 1] > middle ? 1 : 0][values[i] > middle ? 1 : 0] += 1.0;
  const double all = static_cast<double>(values.size() - 1);
  double gain = all * entropy((pairs[0][1] + pairs[1][1]) / all);
  for (const auto& [to_low, to_high] : pairs) {
    if (to_low + to_high > 0.0) gain -= (to_low + to_high) * entropy(to_high / (to_low + to_high));
  }
  return gain >= cost_of_change * std::log(all);
}

}  // namespace

std::vector<double> medians_of_stretches(std::span<const double> values, std::size_t length) {
  std::vector<double> medians;
  std::vector<double> stretch;
  for (std::size_t from = 0; from + length <= values.size(); from += length) {
    stretch.assign(values.begin() + static_cast<std::ptrdiff_t>(from),
                   values.begin() + static_cast<std::ptrdiff_t>(from + length));
    medians.push_back(median_in_place(stretch));
  }
  return medians;
}

Division divided_at_least_cost(std::span<const double> values, std::span<const double> deviations,
                               std::span<const double> costs_of_change) {
  if (values.empty()) return {};
  const std::vector<double> levels = tried_levels(values);
  std::vector<double> noise(deviations.begin(), deviations.end());
  Division division{.stretches = cheapest(values, levels, noise, costs_of_change)};
  // Where what is left wanders, it is noise that lasts: it has to be exceeded by more.
  for (int round = 0; round < most_rounds && division.stretches.size() > 1; ++round) {
    const double lasting = lasting_noise(values, division.stretches, noise);
    if (!(lasting > least_growth)) break;
    division.noise *= lasting;
    for (double& one : noise) one *= lasting;
    division.stretches = cheapest(values, levels, noise, costs_of_change);
  }
  return division;
}

double usual_cost_of_change(std::size_t values) { return cost_of_change * std::log(static_cast<double>(values)); }

std::vector<OneLevel> stretches_of_one_level(std::span<const double> values) {
  if (values.empty()) return {};
  const std::vector<double> deviations(values.size(), std::max(deviation_by_steps(values), least_noise));
  const std::vector<double> costs(values.size(), usual_cost_of_change(values.size()));
  std::vector<OneLevel> stretches = divided_at_least_cost(values, deviations, costs).stretches;
  if (!depends_on_order(values, stretches)) return {{{0, values.size()}, stretches.front().level}};
  return stretches;
}

}  // namespace halcyon
