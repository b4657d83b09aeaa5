#include "analyzer/phases/rank_splits.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

namespace halcyon {
namespace {

constexpr std::size_t fewest_divided = 12;  // with fewer values, hardly any order is improbable enough
// Permutations that may have an arc as far out where the limit is reached. With more of them, the limit is sharper.
constexpr double fewest_beyond = 5.0;

using Sums = Eigen::ArrayXf;  // (values + 1) of the centred ranks before each; exact, as they are small integers

// Twice the rank of each value, less its mean. Ties have their mean rank.
std::vector<float> centred_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [values](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<float> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t next = first;
    while (next < order.size() && values[order[next]] == values[order[first]]) ++next;
    const auto rank = static_cast<float>(first + 1 + next) - static_cast<float>(values.size() + 1);
    for (; first < next; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

Sums sums_of(const std::vector<float>& ranks) {
  Sums sums(static_cast<Eigen::Index>(ranks.size()) + 1);
  sums[0] = 0.0F;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    sums[static_cast<Eigen::Index>(i) + 1] = sums[static_cast<Eigen::Index>(i)] + ranks[i];
  }
  return sums;
}

struct Arc {
  std::size_t begin = 0;
  std::size_t end = 0;
  float distance = 0.0F;  // squared sum of its centred ranks, in units of its variance but for a constant
};

// Squared sums of ranks vary by random order as the product of the number of values inside and outside of the arc.
Arc farthest_arc(const Sums& sums) {
  const Eigen::Index size = sums.size() - 1;
  Arc farthest;
  for (Eigen::Index length = 1; length < size; ++length) {
    const Eigen::Index count = size - length + 1;
    Eigen::Index begin = 0;
    const float sum = (sums.segment(length, count) - sums.head(count)).abs().maxCoeff(&begin);
    const float distance = sum * sum / (static_cast<float>(length) * static_cast<float>(size - length));
    if (distance > farthest.distance) {
      farthest = {static_cast<std::size_t>(begin), static_cast<std::size_t>(begin + length), distance};
    }
  }
  return farthest;
}

float farthest_distance(const Sums& sums) {
  const Eigen::Index size = sums.size() - 1;
  float farthest = 0.0F;
  for (Eigen::Index length = 1; length < size; ++length) {
    const Eigen::Index count = size - length + 1;
    const float sum = (sums.segment(length, count) - sums.head(count)).abs().maxCoeff();
    farthest = std::max(farthest, sum * sum / (static_cast<float>(length) * static_cast<float>(size - length)));
  }
  return farthest;
}

// Whether at most a share `level` of random orders has an arc as far out, this order included. Stops when it is known.
bool is_seldom(std::vector<float> ranks, float distance, double level, std::mt19937_64& random) {
  const auto permutations = static_cast<std::size_t>(std::ceil(fewest_beyond / level)) - 1;
  std::size_t beyond = 1;
  for (std::size_t i = 0; i < permutations; ++i) {
    for (std::size_t left = ranks.size(); left > 1; --left) {
      std::swap(ranks[left - 1], ranks[((random() >> 32) * left) >> 32]);
    }
    if (farthest_distance(sums_of(ranks)) < distance) continue;
    if (static_cast<double>(++beyond) > fewest_beyond) return false;
  }
  return true;
}

// The probability that parts of the same level differ as much, by the rank-sum test (H. B. Mann, D. R. Whitney, Ann.
// Math. Statist. 18, 1947).
double probability_of_difference(std::span<const double> a, std::span<const double> b) {
  const auto m = static_cast<double>(a.size());
  const auto n = static_cast<double>(b.size());
  const double deviation = std::sqrt((m + n + 1.0) / (12.0 * m * n));  // of the superiority
  return std::erfc(std::abs(superiority(a, b) - 0.5) / deviation / std::sqrt(2.0));
}

void divide(std::span<const double> values, std::size_t begin, std::size_t whole, std::mt19937_64& random,
            std::vector<std::size_t>& changes) {
  if (values.size() < fewest_divided) return;
  const std::vector<float> ranks = centred_ranks(values);
  const Arc arc = farthest_arc(sums_of(ranks));
  const double level = false_change_probability * static_cast<double>(values.size()) / static_cast<double>(whole);
  if (arc.distance <= 0.0F || !is_seldom(ranks, arc.distance, level, random)) return;
  std::size_t from = 0;
  for (const std::size_t edge : {arc.begin, arc.end}) {
    if (edge == 0 || edge == values.size()) continue;
    divide(values.subspan(from, edge - from), begin + from, whole, random, changes);
    changes.push_back(begin + edge);
    from = edge;
  }
  divide(values.subspan(from), begin + from, whole, random, changes);
}

// One of the two edges of an arc may be there by chance. Takes change points back, the least sure one first, until the
// stretches on both sides of each differ.
void take_back_unsure(std::span<const double> values, std::vector<std::size_t>& changes) {
  while (!changes.empty()) {
    double least_sure = 0.0;
    std::size_t which = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t from = i == 0 ? 0 : changes[i - 1];
      const std::size_t to = i + 1 < changes.size() ? changes[i + 1] : values.size();
      const double by_chance = probability_of_difference(values.subspan(from, changes[i] - from),
                                                         values.subspan(changes[i], to - changes[i]));
      if (by_chance > least_sure) {
        least_sure = by_chance;
        which = i;
      }
    }
    if (least_sure <= false_change_probability) return;
    changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(which));
  }
}

// The best place for one change.
std::size_t best_split(std::span<const double> values) {
  const Sums sums = sums_of(centred_ranks(values));
  const auto size = static_cast<float>(values.size());
  std::size_t best = 0;
  float most = 0.0F;
  for (std::size_t at = 1; at < values.size(); ++at) {
    const float sum = sums[static_cast<Eigen::Index>(at)];
    const float distance = sum * sum / (static_cast<float>(at) * (size - static_cast<float>(at)));
    if (distance > most) {
      most = distance;
      best = at;
    }
  }
  return best;
}

}  // namespace

std::vector<std::size_t> rank_splits(std::span<const double> values) {
  std::mt19937_64 random(1);
  std::vector<std::size_t> changes;
  divide(values, 0, values.size(), random, changes);
  take_back_unsure(values, changes);
  // The edges of an arc were placed together, and by ranks in a part with other changes.
  move_to_best_places(values, changes);
  return changes;
}

void move_to_best_places(std::span<const double> values, std::vector<std::size_t>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : changes[i - 1];
    const std::size_t to = i + 1 < changes.size() ? changes[i + 1] : values.size();
    if (const std::size_t best = best_split(values.subspan(from, to - from)); best > 0) changes[i] = from + best;
  }
}

double superiority(std::span<const double> a, std::span<const double> b) {
  std::vector<double> ascending(a.begin(), a.end());
  std::sort(ascending.begin(), ascending.end());
  double above = 0.0;
  for (const double value : b) {
    const auto [first, next] = std::equal_range(ascending.begin(), ascending.end(), value);
    above += 0.5 * static_cast<double>((first - ascending.begin()) + (next - ascending.begin()));
  }
  return above / (static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

}  // namespace halcyon
