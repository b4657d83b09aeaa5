#include "analyzer/estimate/estimate.hpp"

#include <algorithm>

namespace halcyon {

double continuous_of(double segments, double median, double baseline, double excess_seconds) {
  return std::clamp(segments * (median - baseline), 0.0, std::max(0.0, excess_seconds));
}

}  // namespace halcyon
