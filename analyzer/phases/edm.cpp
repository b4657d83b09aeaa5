#include "analyzer/phases/edm.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace halcyon {
namespace {

/// The median of values that come one after the other.
class RunningMedian {
 public:
  void add(double value) {
    if (lower_.empty() || value <= lower_.top()) {
      lower_.push(value);
    } else {
      upper_.push(value);
    }
    if (lower_.size() > upper_.size() + 1) {
      upper_.push(lower_.top());
      lower_.pop();
    } else if (upper_.size() > lower_.size()) {
      lower_.push(upper_.top());
      upper_.pop();
    }
  }
  double value() const { return lower_.size() > upper_.size() ? lower_.top() : 0.5 * (lower_.top() + upper_.top()); }

 private:
  std::priority_queue<double> lower_;
  std::priority_queue<double, std::vector<double>, std::greater<>> upper_;
};

double penalty(EdmDegree degree, std::size_t changes) {
  switch (degree) {
    case EdmDegree::none: break;
    case EdmDegree::constant: return 1.0;
    case EdmDegree::linear: return 2.0 * static_cast<double>(changes) + 1.0;
  }
  return 0.0;
}

/// The best division of each prefix of the values, by its length.
struct Divisions {
  std::vector<double> gain;
  std::vector<std::size_t> last;     // its last change point; 0: none
  std::vector<std::size_t> changes;  // how many
};

// `cost(changes)`: of one more change point. `review(divisions, length)`: may take the last change point back.
template <class Cost, class Review>
std::vector<std::size_t> divide(std::span<const double> values, std::size_t least, double no_gain, Cost cost,
                                Review review) {
  const std::size_t size = values.size();
  Divisions best{.gain = std::vector<double>(size + 1, no_gain),
                 .last = std::vector<std::size_t>(size + 1, 0),
                 .changes = std::vector<std::size_t>(size + 1, 0)};
  std::vector<RunningMedian> from(size);       // of the values from each on, up to the current prefix
  std::vector<double> of_last(size + 1, 0.0);  // median of the last stretch of each prefix
  for (std::size_t end = 1; end <= size; ++end) {
    for (std::size_t begin = 0; begin < end; ++begin) from[begin].add(values[end - 1]);
    for (std::size_t at = least; at + least <= end; ++at) {
      const auto left = static_cast<double>(at - best.last[at]);
      const auto right = static_cast<double>(end - at);
      const double difference = of_last[at] - from[at].value();
      const double gain = best.gain[at] + left * right / ((left + right) * (left + right)) * difference * difference -
                          cost(best.changes[at]);
      if (gain > best.gain[end]) {
        best.gain[end] = gain;
        best.last[end] = at;
        best.changes[end] = best.changes[at] + 1;
      }
    }
    if (best.last[end] != 0) review(best, end);
    of_last[end] = from[best.last[end]].value();
  }
  std::vector<std::size_t> changes;
  for (std::size_t at = best.last[size]; at != 0; at = best.last[at]) changes.push_back(at);
  std::reverse(changes.begin(), changes.end());
  return changes;
}

}  // namespace

std::vector<std::size_t> edm_percent(std::span<const double> values, const EdmPercent& settings) {
  const auto keep_what_gains = [&settings](Divisions& best, std::size_t end) {
    const std::size_t before = best.last[end];
    const double least = settings.least_gain * penalty(settings.degree, best.changes[before]) * best.gain[before];
    if (best.gain[end] - best.gain[before] >= least) return;
    best.gain[end] = best.gain[before];
    best.last[end] = best.last[before];
    best.changes[end] = best.changes[before];
  };
  return divide(
      values, settings.least_stretch, 0.0, [](std::size_t) { return 0.0; }, keep_what_gains);
}

std::vector<std::size_t> edm_multi(std::span<const double> values, const EdmMulti& settings) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double range = *most > low ? *most - low : 1.0;
  std::vector<double> scaled;
  scaled.reserve(values.size());
  for (const double value : values) scaled.push_back((value - low) / range);
  constexpr double no_gain = -3.0;  // as in the published recurrence; every division is better
  return divide(
      scaled, settings.least_stretch, no_gain,
      [&settings](std::size_t changes) { return settings.beta * penalty(settings.degree, changes); },
      [](Divisions&, std::size_t) {});
}

}  // namespace halcyon
