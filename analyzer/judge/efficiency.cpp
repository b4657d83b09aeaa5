#include "analyzer/judge/efficiency.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace halcyon {

std::optional<Efficiency> efficiency_of(const Profile& profile) {
  const std::vector<double>& in_mpi = profile.evidence[index_of(Evidence::mpi_time)];
  if (in_mpi.empty() || in_mpi.size() != profile.rank_run_time.size()) return std::nullopt;
  double sum = 0.0;
  double largest = 0.0;
  double longest_run = 0.0;
  Efficiency efficiency;
  for (std::uint32_t rank = 0; rank < in_mpi.size(); ++rank) {
    const double useful = std::max(0.0, profile.rank_run_time[rank] - in_mpi[rank]);
    if (!std::isfinite(profile.rank_run_time[rank] - in_mpi[rank])) return std::nullopt;
    sum += useful;
    longest_run = std::max(longest_run, profile.rank_run_time[rank]);
    if (useful <= largest) continue;
    largest = useful;
    efficiency.busiest = rank;
  }
  if (!(largest > 0.0)) return std::nullopt;
  efficiency.load_balance = sum / (static_cast<double>(in_mpi.size()) * largest);
  efficiency.communication = largest / longest_run;
  return efficiency;
}

}  // namespace halcyon
