#include "libprofile/format/profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "libprofile/format/boundary.hpp"

namespace halcyon {
namespace {

// The first rank of each host, in order of rank. A rank that left nothing has no host.
std::vector<std::size_t> first_ranks_of_hosts(const std::vector<std::string>& rank_host) {
  std::unordered_set<std::string_view> known;
  std::vector<std::size_t> first;
  for (std::size_t rank = 0; rank < rank_host.size(); ++rank) {
    if (!rank_host[rank].empty() && known.insert(rank_host[rank]).second) first.push_back(rank);
  }
  return first;
}

}  // namespace

std::vector<BoundaryCount> Profile::boundaries() const {
  std::vector<std::uint64_t> of_site(sites.size());
  if (site.empty() && !sites.empty()) of_site.front() = segments;
  for (const std::uint16_t place : site) ++of_site[place];
  std::map<std::string_view, std::uint64_t> of_operation;
  for (std::size_t place = 0; place < sites.size(); ++place) {
    const std::string_view operation = std::string_view(sites[place]).substr(0, sites[place].find('@'));
    if (of_site[place] > 0 && operation != name_of(Boundary::finalize)) of_operation[operation] += of_site[place];
  }
  std::vector<BoundaryCount> counts;
  for (const auto& [operation, count] : of_operation) counts.push_back({std::string(operation), count});
  std::stable_sort(counts.begin(), counts.end(),
                   [](const BoundaryCount& a, const BoundaryCount& b) { return a.segments > b.segments; });
  return counts;
}

bool Profile::left_nothing(std::size_t rank) const { return std::isnan(rank_run_time[rank]); }

std::string Profile::where_it_ran(std::size_t rank) const {
  return "rank " + std::to_string(rank) + (rank_host[rank].empty() ? "" : " on " + rank_host[rank]);
}

std::vector<std::string> Profile::hosts() const {
  std::vector<std::string> distinct;
  for (const std::size_t rank : first_ranks_of_hosts(rank_host)) distinct.push_back(rank_host[rank]);
  return distinct;
}

std::vector<double> Profile::by_host(Evidence which) const {
  const std::vector<double>& by_rank = evidence[index_of(which)];
  std::vector<double> values;
  if (by_rank.empty()) return values;
  for (std::size_t rank : first_ranks_of_hosts(rank_host)) {
    // The counts of a rank that was killed may be missing, and those of its neighbour there.
    const std::string& host = rank_host[rank];
    for (std::size_t other = rank; std::isnan(by_rank[rank]) && other < by_rank.size(); ++other) {
      if (rank_host[other] == host && !std::isnan(by_rank[other])) rank = other;
    }
    values.push_back(by_rank[rank]);
  }
  return values;
}

}  // namespace halcyon
