#include "analyzer/evidence/time_shares.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/groups/timeline.hpp"

namespace halcyon {

std::optional<TimeShares> time_shares(const Profile& profile) {
  const RankSections& sections = profile.sections;
  if (sections.count() == 0) return std::nullopt;
  const auto sum_of = [](const std::vector<float>& values) {
    double sum = 0.0;
    for (const float value : values) sum += value > 0.0F ? static_cast<double>(value) : 0.0;  // NaN is not
    return sum;
  };
  double known_ranks = 0.0;
  for (std::size_t rank = 0; rank < profile.rank_run_time.size(); ++rank) {
    known_ranks += std::isfinite(sections.computing[rank * sections.count()]) ? 1.0 : 0.0;
  }
  TimeShares shares{.computing = sum_of(sections.computing),
                    .in_mpi = sum_of(sections.waiting),
                    .in_files = sum_of(sections.file_io),
                    .on_devices = sum_of(sections.device)};
  const double told = shares.computing + shares.in_mpi + shares.in_files + shares.on_devices;
  const double all = std::max(told, known_ranks * length_of(profile.duration));
  if (!(all > 0.0)) return std::nullopt;
  shares.file_seconds = shares.in_files;
  shares.asleep_seconds = all - told;
  shares.asleep = (all - told) / all;
  for (double* share : {&shares.computing, &shares.in_mpi, &shares.in_files, &shares.on_devices}) *share /= all;
  return shares;
}

}  // namespace halcyon
