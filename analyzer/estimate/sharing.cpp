#include "analyzer/estimate/sharing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace halcyon {
namespace {

// Standard deviations between groups. Other users of the processor take a part of each second, those of a network or a
// file system a part of each call. Not only what the recorder counts as calls may be struck.
constexpr double same_rate_in_time = 0.6;   // of the log of the delays a second
constexpr double same_rate_in_calls = 0.6;  // of the log of the delays a call
constexpr double same_delay = 0.4;          // of the log of the mean delay
constexpr double other_law = 0.2;           // how much an explanation by another law of delays counts
constexpr double least_said = 1e-4;         // probability of an explanation that is told to others
constexpr double stranger = 0.1;            // share of groups whose disturbance is unlike that of all others

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

constexpr double most_apart = 4.0;  // standard deviations: delays farther apart say nothing of each other
constexpr double unlike = 9.0;      // a likeness of exp(-9) and less is none beside `stranger`

// What a group says to others.
struct Said {
  double undisturbed = 0.0;        // probability
  std::vector<Disturbance> kinds;  // by ascending delay
};

// Disturbances that are nearly alike fall into one cell. Cells are much finer than the differences between groups, and
// there are far fewer of them than explanations.
using AlikeCell = std::tuple<std::size_t, long, long, long>;
AlikeCell alike_cell(const Disturbance& one, double finer) {
  return {one.law, std::lround(finer * one.log_delay / same_delay),
          std::lround(finer * one.log_rate_in_calls / same_rate_in_calls),
          std::lround(finer * one.log_rate_in_time / same_rate_in_time)};
}

constexpr double said_finer = 2.0;   // cells in a standard deviation between groups
constexpr double asked_finer = 4.0;  // here nothing is added up, but the likeness is steep

Said said_by(const std::vector<Disturbance>& disturbances) {
  Said said;
  std::map<AlikeCell, Disturbance> cells;
  for (const Disturbance& one : disturbances) {
    if (one.probability < least_said) continue;
    if (one.none) {
      said.undisturbed += one.probability;
      continue;
    }
    const auto [entry, is_new] = cells.try_emplace(alike_cell(one, said_finer), one);
    if (!is_new) entry->second.probability += one.probability;
  }
  for (const auto& [cell, one] : cells) said.kinds.push_back(one);
  std::stable_sort(said.kinds.begin(), said.kinds.end(),
                   [](const Disturbance& a, const Disturbance& b) { return a.log_delay < b.log_delay; });
  return said;
}

// The share of what a group says that is like one disturbance: near 1 if all of it is.
double support(const Said& said, const Disturbance& one) {
  const double farthest = most_apart * same_delay;
  auto other = std::partition_point(said.kinds.begin(), said.kinds.end(),
                                    [&](const Disturbance& kind) { return kind.log_delay < one.log_delay - farthest; });
  double sum = 0.0;
  for (; other != said.kinds.end() && other->log_delay <= one.log_delay + farthest; ++other) {
    const double in_time = (one.log_rate_in_time - other->log_rate_in_time) / same_rate_in_time;
    const double in_calls = (one.log_rate_in_calls - other->log_rate_in_calls) / same_rate_in_calls;
    const double delay = (one.log_delay - other->log_delay) / same_delay;
    const double apart_in_time = 0.5 * (in_time * in_time + delay * delay);
    const double apart_in_calls = 0.5 * (in_calls * in_calls + delay * delay);
    double likeness = 0.0;
    if (apart_in_time < unlike) likeness += 0.5 * std::exp(-apart_in_time);
    if (apart_in_calls < unlike) likeness += 0.5 * std::exp(-apart_in_calls);
    sum += other->probability * (one.law == other->law ? 1.0 : other_law) * likeness;
  }
  return sum;
}

}  // namespace

void share_between_groups(std::vector<std::vector<Explanation>>& groups, const std::vector<double>& calls,
                          const std::vector<std::size_t>& telling) {
  std::vector<std::vector<Disturbance>> known;
  for (std::size_t g = 0; g < groups.size(); ++g) known.push_back(disturbances_of(groups[g], calls[g]));
  for (const std::size_t other : telling) {
    const Said said = said_by(known[other]);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g == other) continue;
      // Explanations that differ in hardly more than their jitter have the same answer.
      std::map<AlikeCell, double> answers;
      for (std::size_t i = 0; i < groups[g].size(); ++i) {
        const Disturbance& one = known[g][i];
        if (one.none) {
          groups[g][i].evidence += std::log(stranger + said.undisturbed);
          continue;
        }
        const auto [answer, is_new] = answers.try_emplace(alike_cell(one, asked_finer));
        if (is_new) answer->second = std::log(stranger + support(said, one));
        groups[g][i].evidence += answer->second;
      }
    }
  }
}

}  // namespace halcyon
