#include "analyzer/statistics/moments.hpp"

#include <numeric>

namespace halcyon {

double mean_value(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_about(std::span<const double> values, double middle) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [middle](double sum, double value) { return sum + (value - middle) * (value - middle); });
}

}  // namespace halcyon
