#include "analyzer/online/service_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halcyon {
namespace {

constexpr int filter_radius = 2;

// Without padding: 4 values fewer than there are counts.
RunningMoments filtered(const std::deque<double>& counts) {
  static const std::array<double, 5> filter = gaussian_filter();
  RunningMoments moments;
  for (std::size_t begin = 0; begin + filter.size() <= counts.size(); ++begin) {
    moments.add(
        std::inner_product(filter.begin(), filter.end(), counts.begin() + static_cast<std::ptrdiff_t>(begin), 0.0));
  }
  return moments;
}

}  // namespace

std::array<double, 5> gaussian_filter() {
  std::array<double, 5> filter{};
  for (int x = -filter_radius; x <= filter_radius; ++x) {
    filter[static_cast<std::size_t>(x + filter_radius)] = std::exp(-0.5 * x * x);
  }
  const double sum = std::accumulate(filter.begin(), filter.end(), 0.0);
  for (double& weight : filter) weight /= sum;
  return filter;
}

ServiceRate::ServiceRate(double period_seconds, const ServiceRateSettings& settings)
    : period_(period_seconds), settings_(settings), deviations_{} {}

std::optional<double> ServiceRate::add(const RateSample& sample) {
  if (sample.is_blocked || std::abs(sample.seconds - period_) > settings_.period_tolerance * period_) return {};
  counts_.push_back(sample.units);
  if (counts_.size() < settings_.window) return {};
  if (counts_.size() > settings_.window) counts_.pop_front();

  const RunningMoments window = filtered(counts_);
  quantiles_.add(window.mean() + settings_.quantile * window.deviation());
  means_.add(quantiles_.mean());
  deviations_ = {deviations_[1], deviations_[2], means_.deviation()};
  if (means_.count() < deviations_.size()) return {};
  changes_.push_back(std::inner_product(deviations_.begin(), deviations_.end(), laplacian_of_gaussian.begin(), 0.0));
  if (changes_.size() > settings_.changes) changes_.pop_front();
  if (!is_stable()) return {};
  stable_ = current();
  begin_anew();
  return stable_;
}

std::optional<double> ServiceRate::current() const {
  return quantiles_.count() > 0 ? std::optional(quantiles_.mean() / period_) : std::nullopt;
}

bool ServiceRate::is_stable() const {
  if (changes_.size() < settings_.changes) return false;
  const double limit = settings_.tolerance * quantiles_.mean();
  return std::all_of(changes_.begin(), changes_.end(), [limit](double change) { return std::abs(change) <= limit; });
}

void ServiceRate::begin_anew() {
  counts_.clear();
  changes_.clear();
  quantiles_ = means_ = RunningMoments();
}

}  // namespace halcyon
