#include "analyzer/estimate/sharing.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "analyzer/statistics/in_parallel.hpp"

namespace halcyon {
namespace {

// Standard deviations between groups. Other users of the processor take a part of each second, those of a network or a
// file system a part of each call. Not only what the recorder counts as calls may be struck.
constexpr double same_rate = 0.6;      // of the log of the delays a second, or a call
constexpr double same_delay = 0.4;     // of the log of the mean delay
constexpr double other_law = 0.2;      // how much an explanation by another law of delays counts
constexpr double least_shown = 1e-4;   // Numerics: probability of an explanation that is shown to others
constexpr double unlike_others = 0.1;  // share of groups whose disturbance is unlike that of all others

struct Disturbance {
  bool none;
  double log_rate_in_time = 0.0;
  double log_rate_in_calls = 0.0;
  double log_delay = 0.0;
  std::size_t law = 0;
  double probability = 0.0;
};

std::vector<Disturbance> disturbances_of(const std::vector<Explanation>& explanations, double calls) {
  std::vector<Disturbance> result;
  double total = 0.0;
  for (const Explanation& item : explanations) total += std::exp(item.evidence);
  for (const Explanation& item : explanations) {
    const DurationShape& shape = item.shape;
    Disturbance one{.none = shape.hits == 0.0, .law = shape.law, .probability = std::exp(item.evidence) / total};
    if (!one.none) {
      one.log_rate_in_time = std::log(shape.hits * shape.exposed / item.baseline);
      one.log_rate_in_calls = std::log(shape.hits * shape.exposed / std::max(calls, 1.0));
      one.log_delay = std::log(shape.mean_delay * item.scale);
    }
    result.push_back(one);
  }
  return result;
}

constexpr double most_apart = 4.0;  // Numerics: standard deviations: delays farther apart say nothing of each other

// What a group shows to others, as a column for each figure, by ascending delay. A sum over them takes few steps.
struct Shown {
  double undisturbed = 0.0;  // probability
  std::vector<float> log_delay;
  std::vector<float> log_rate_in_time;
  std::vector<float> log_rate_in_calls;
  std::array<std::vector<float>, delay_laws.size()> weight;  // of each as seen by a disturbance of this law
};

// Disturbances that are nearly alike fall into one cell. Cells are much finer than the differences between groups, and
// there are far fewer of them than explanations.
using AlikeCell = std::tuple<std::size_t, long, long, long>;
constexpr double finer = 4.0;  // Numerics: cells in a standard deviation between groups
AlikeCell alike_cell(const Disturbance& one) {
  return {one.law, std::lround(finer * one.log_delay / same_delay),
          std::lround(finer * one.log_rate_in_calls / same_rate),
          std::lround(finer * one.log_rate_in_time / same_rate)};
}

Shown shown_by(const std::vector<Disturbance>& disturbances) {
  Shown shown;
  std::map<AlikeCell, Disturbance> cells;
  for (const Disturbance& one : disturbances) {
    if (one.probability < least_shown) continue;
    if (one.none) {
      shown.undisturbed += one.probability;
      continue;
    }
    const auto [entry, is_new] = cells.try_emplace(alike_cell(one), one);
    if (!is_new) entry->second.probability += one.probability;
  }
  std::vector<Disturbance> kinds;
  for (const auto& [cell, one] : cells) kinds.push_back(one);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Disturbance& a, const Disturbance& b) { return a.log_delay < b.log_delay; });
  for (const Disturbance& one : kinds) {
    shown.log_delay.push_back(static_cast<float>(one.log_delay));
    shown.log_rate_in_time.push_back(static_cast<float>(one.log_rate_in_time));
    shown.log_rate_in_calls.push_back(static_cast<float>(one.log_rate_in_calls));
    for (std::size_t law = 0; law < delay_laws.size(); ++law) {
      shown.weight[law].push_back(static_cast<float>(one.law == law ? one.probability : other_law * one.probability));
    }
  }
  return shown;
}

// The share of what a group shows that is like one disturbance: near 1 if all of it is.
double support(const Shown& shown, const Disturbance& one) {
  const auto farthest = static_cast<float>(most_apart * same_delay);
  const auto log_delay = static_cast<float>(one.log_delay);
  const auto first = std::lower_bound(shown.log_delay.begin(), shown.log_delay.end(), log_delay - farthest);
  const auto last = std::upper_bound(first, shown.log_delay.end(), log_delay + farthest);
  const auto column = [from = first - shown.log_delay.begin(), size = last - first](const std::vector<float>& values) {
    return Eigen::Map<const Eigen::ArrayXf>(values.data() + from, size);
  };
  const auto apart = [&](const std::vector<float>& values, double value, double deviation) {
    return ((column(values) - static_cast<float>(value)) * static_cast<float>(1.0 / deviation)).square();
  };
  const auto delay = apart(shown.log_delay, one.log_delay, same_delay);
  const auto in_time = (-0.5F * (delay + apart(shown.log_rate_in_time, one.log_rate_in_time, same_rate))).exp();
  const auto in_calls = (-0.5F * (delay + apart(shown.log_rate_in_calls, one.log_rate_in_calls, same_rate))).exp();
  return 0.5 * static_cast<double>((column(shown.weight[one.law]) * (in_time + in_calls)).sum());
}

// Weighs the explanations of a group by what another one shows.
void weigh_by(std::vector<Explanation>& explanations, const std::vector<Disturbance>& known, const Shown& shown) {
  // Explanations that differ in hardly more than their jitter have the same answer.
  std::map<AlikeCell, double> answers;
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    const Disturbance& one = known[i];
    if (one.none) {
      explanations[i].evidence += std::log(unlike_others + shown.undisturbed);
      continue;
    }
    const auto [answer, is_new] = answers.try_emplace(alike_cell(one));
    if (is_new) answer->second = std::log(unlike_others + support(shown, one));
    explanations[i].evidence += answer->second;
  }
}

}  // namespace

void share_between_groups(std::vector<std::vector<Explanation>>& groups, const std::vector<double>& calls,
                          const std::vector<std::size_t>& telling) {
  std::vector<std::vector<Disturbance>> known(groups.size());
  for_each_in_parallel(groups.size(), [&](std::size_t g) { known[g] = disturbances_of(groups[g], calls[g]); });
  std::vector<Shown> shown(telling.size());
  for_each_in_parallel(telling.size(), [&](std::size_t i) { shown[i] = shown_by(known[telling[i]]); });
  for_each_in_parallel(groups.size(), [&](std::size_t g) {
    for (std::size_t i = 0; i < telling.size(); ++i) {
      if (telling[i] != g) weigh_by(groups[g], known[g], shown[i]);
    }
  });
}

}  // namespace halcyon
