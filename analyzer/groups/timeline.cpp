#include "analyzer/groups/timeline.hpp"

#include <algorithm>
#include <numeric>

namespace halcyon {

double length_of(std::span<const float> seconds) { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

double TimesOfSegments::length() const { return length_of(durations) + length_of(gaps); }

std::size_t PartsByTime::at(double time) const {
  if (!(seconds > 0.0)) return 0;
  return std::min(static_cast<std::size_t>(time / seconds * static_cast<double>(count)), count - 1);
}

void spread_evenly(const PartsByTime& parts, double begin, double duration, double amount, std::span<double> sums) {
  const std::size_t last = parts.at(begin + duration);
  double left = amount;
  double from = begin;
  for (std::size_t part = parts.at(begin); part < last; ++part) {
    const double until = parts.begin(part + 1);
    const double share = amount * (until - from) / duration;
    sums[part] += share;
    left -= share;
    from = until;
  }
  sums[last] += left;
}

}  // namespace halcyon
