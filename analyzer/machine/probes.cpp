#include "analyzer/machine/probes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halcyon {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The median of the values that are known; else NaN.
double median_of_known(const std::vector<double>& of_ranks, const std::vector<std::size_t>& ranks) {
  std::vector<double> values;
  for (const std::size_t rank : ranks) {
    if (rank < of_ranks.size() && of_ranks[rank] > 0.0) values.push_back(of_ranks[rank]);  // NaN is not
  }
  if (values.empty()) return unknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

std::vector<HostProbes> host_probes(const Profile& profile) {
  std::vector<HostProbes> result;
  if (std::all_of(profile.probes.begin(), profile.probes.end(),
                  [](const ProbeColumns& probe) { return probe.best_before.empty() && probe.best_after.empty(); })) {
    return result;
  }
  for (const std::string& host : profile.hosts()) {
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
      if (profile.rank_host[rank] == host) ranks.push_back(rank);
    }
    HostProbes& probes = result.emplace_back();
    probes.host = host;
    if (ranks.front() < profile.rank_cpu.size()) probes.cpu = profile.rank_cpu[ranks.front()];
    probes.ranks = ranks.size();
    for (std::size_t i = 0; i < probe_count; ++i) {
      const double before = median_of_known(profile.probes[i].best_before, ranks);
      const double after = median_of_known(profile.probes[i].best_after, ranks);
      probes.during[i] = 0.5 * (before + after);
      probes.best[i] = std::fmin(before, after);  // of which one may be NaN
      if (std::isnan(probes.during[i])) probes.during[i] = probes.best[i];
      probes.known[i] = median_of_known(profile.probes[i].known, ranks);
    }
  }
  return result;
}

bool KnownHost::is_of(const HostProbes& probes, const std::string& version) const {
  return host == probes.host && cpu == probes.cpu && ranks == probes.ranks && recorder_version == version;
}

KnownHost with_run(const KnownHost& known, const HostProbes& probes) {
  KnownHost result = known;
  ++result.runs;
  for (std::size_t i = 0; i < probe_count; ++i) result.best[i] = std::fmin(known.best[i], probes.best[i]);
  return result;
}

KnownHost known_by(const HostProbes& probes, const std::string& recorder_version) {
  return {probes.host, probes.cpu, probes.ranks, recorder_version, 1, probes.best};
}

double perhaps_lost_share(const ProbeDisplacements& probes) {
  constexpr double waits_for_memory = 0.5;  // of the time
  double lost = 0.0;
  for (std::size_t i = 0; i < probe_count; ++i) {
    if (!probes[i] || probes[i]->speed_percent() >= least_speed_percent) continue;
    lost = std::max(lost, probes[i]->lost_share() * (i == index_of(Probe::registers) ? 1.0 : waits_for_memory));
  }
  return lost;
}

ProbeDisplacements probe_displacement(const Profile& profile) {
  ProbeDisplacements result;
  for (const HostProbes& probes : host_probes(profile)) {
    for (std::size_t i = 0; i < probe_count; ++i) {
      if (std::isnan(probes.during[i]) || std::isnan(probes.known[i])) continue;
      const ProbeDisplacement displacement{probes.host, probes.during[i], probes.known[i]};
      if (!result[i] || displacement.lost_share() > result[i]->lost_share()) result[i] = displacement;
    }
  }
  return result;
}

}  // namespace halcyon
