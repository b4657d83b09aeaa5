#include "analyzer/attribution/efficiency.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/evidence/cpu_waits.hpp"
#include "analyzer/groups/timeline.hpp"

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
  if (!profile.least_mpi_time.empty()) {
    // Where ranks come last in turn, the segments together may leave less than the busiest rank needs.
    const double ideal = std::clamp(longest_run - length_of(profile.least_mpi_time), largest, longest_run);
    efficiency.serialisation = largest / ideal;
    efficiency.transfer = ideal / longest_run;
  }
  return efficiency;
}

std::optional<ThreadEfficiency> thread_efficiency_of(const Profile& profile) {
  // What was done in a region that is not measured is not known.
  constexpr double most_unknown = 0.01;  // of the run
  if (most_side_by_side(profile) > most_unknown * profile.run_time_seconds) return std::nullopt;
  double alone = 0.0;  // outside regions
  double in_regions = 0.0;
  double of_threads = 0.0;
  double work = 0.0;
  double longest = 0.0;
  for (std::size_t rank = 0; rank < profile.rank_run_time.size(); ++rank) {
    const auto of_rank = [&](Evidence which) { return evidence_of(profile, which, rank); };
    const double outside = profile.rank_run_time[rank] - of_rank(Evidence::mpi_time) - of_rank(Evidence::region_time);
    if (!std::isfinite(outside)) return std::nullopt;
    alone += std::max(0.0, outside);
    in_regions += of_rank(Evidence::region_time);
    of_threads += of_rank(Evidence::region_thread_time);
    work += of_rank(Evidence::region_work);
    longest += of_rank(Evidence::region_longest_work);
  }
  if (!(in_regions > 0.0) || !(longest > 0.0) || of_threads < (1.0 + busy_beside) * in_regions) return std::nullopt;
  const double threads = of_threads / in_regions;
  return ThreadEfficiency{.parallel = std::min(1.0, (alone + work) / (threads * (alone + in_regions))),
                          .load_balance = std::min(1.0, work / longest),
                          .threads = threads};
}

std::uint64_t bytes_of_files(const Profile& profile) {
  std::uint64_t bytes = 0;
  for (const Feature feature : {Feature::bytes_read, Feature::bytes_written}) {
    for (const std::uint64_t of_rank : profile.totals[index_of(feature)]) bytes += of_rank;
  }
  return bytes;
}

}  // namespace halcyon
