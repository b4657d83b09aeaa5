#include "analyzer/judge/cpu_waits.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace halcyon {

bool has_more_ranks_than_cores(const Profile& profile) {
  const std::vector<double>& cpus = profile.evidence[index_of(Evidence::cpus)];
  std::map<std::string, double> ranks;
  for (const std::string& host : profile.rank_host) ++ranks[host];
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    if (cpus[rank] >= 1.0 && ranks[profile.rank_host[rank]] > cpus[rank]) return true;
  }
  return false;
}

double longest_wait_for_cpu(const Profile& profile) {
  double longest = 0.0;
  // NaN is not above.
  for (const double wait : profile.evidence[index_of(Evidence::cpu_wait)]) longest = wait > longest ? wait : longest;
  return longest;
}

}  // namespace halcyon
