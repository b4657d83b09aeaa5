#include "analyzer/attribution/retransmissions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace halcyon {
namespace {

constexpr std::size_t fewest_hosts = 3;  // with two, both ends of their link send again alike
constexpr double least_ratio_to_second = 1.25;
// The difference of two Poisson counts must be so many of its standard deviations.
constexpr double least_deviations = 3.0;

}  // namespace

std::optional<RetransmittingHost> most_retransmitting(const Profile& profile) {
  std::vector<double> counts = profile.by_host(Evidence::tcp_retransmissions);
  if (counts.size() < fewest_hosts) return std::nullopt;
  for (double& count : counts) count = count > 0.0 ? count : 0.0;  // NaN where it is not known
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto worst = std::max_element(counts.begin(), counts.end());
  const std::string host = profile.hosts()[static_cast<std::size_t>(worst - counts.begin())];
  std::iter_swap(counts.begin(), worst);
  const double own = counts.front();
  const double second = *std::max_element(counts.begin() + 1, counts.end());
  const bool stands_out =
      own >= least_ratio_to_second * second && own - second > least_deviations * std::sqrt(own + second);
  return stands_out ? std::optional(RetransmittingHost{host, own, all}) : std::nullopt;
}

}  // namespace halcyon
