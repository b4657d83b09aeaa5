#include "libprofile/format/profile.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "libprofile/format/boundary.hpp"

namespace halcyon {
namespace {

// The first rank of each host, in order of rank.
std::vector<std::size_t> first_ranks_of_hosts(const std::vector<std::string>& rank_host) {
  std::unordered_set<std::string_view> known;
  std::vector<std::size_t> first;
  for (std::size_t rank = 0; rank < rank_host.size(); ++rank) {
    if (known.insert(rank_host[rank]).second) first.push_back(rank);
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

std::vector<std::string> Profile::hosts() const {
  std::vector<std::string> distinct;
  for (const std::size_t rank : first_ranks_of_hosts(rank_host)) distinct.push_back(rank_host[rank]);
  return distinct;
}

std::vector<double> Profile::by_host(Evidence which) const {
  const std::vector<double>& by_rank = evidence[index_of(which)];
  std::vector<double> values;
  if (by_rank.empty()) return values;
  for (const std::size_t rank : first_ranks_of_hosts(rank_host)) values.push_back(by_rank[rank]);
  return values;
}

}  // namespace halcyon
