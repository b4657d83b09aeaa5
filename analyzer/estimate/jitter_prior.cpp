#include "analyzer/estimate/jitter_prior.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon {
namespace {

constexpr double usual_jitter = 0.045;  // of the duration
constexpr double most_jitter = 0.22;

}  // namespace

JitterPrior::Point JitterPrior::at(double jitter) const {
  const double above_usual = std::pow(jitter / usual_jitter, 4.0);
  const double above_most = std::pow(jitter / most_jitter, 4.0);
  // Either density may be too small for a floating-point number; its logarithm is not.
  const double usual_density = -0.5 * above_usual;
  const double wide_density = wide > 0.0 ? std::log(wide) - 0.5 * above_most : -1e300;
  const double larger = std::max(usual_density, wide_density);
  const double density = larger + std::log(std::exp(usual_density - larger) + std::exp(wide_density - larger));
  const double share = std::exp(wide_density - density);
  const double steepness = (1.0 - share) * above_usual + share * above_most;
  return {density, -2.0 * steepness, 8.0 * steepness};
}

}  // namespace halcyon
