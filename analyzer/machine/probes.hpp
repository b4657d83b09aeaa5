// Probes of the machine before and after a run: how far each host was from its best known speed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Of one host, in seconds: the median over its ranks of the best of each. NaN if it was not measured.
struct HostProbes {
  std::string host;
  std::string cpu;  // model of its first rank's processor
  std::size_t ranks = 0;
  std::array<double, probe_count> during{};  // mean of before and after the run
  std::array<double, probe_count> best{};    // the better of both
  std::array<double, probe_count> known{};   // best known when the run was judged
};

/// In order of rank; empty if the machine was not probed.
std::vector<HostProbes> host_probes(const Profile& profile);

/// The best times of a host with a given number of ranks on it: ranks share the memory.
struct KnownHost {
  std::string host;
  std::string cpu;
  std::size_t ranks = 0;
  std::string recorder_version;  // the probes are its code
  std::uint64_t runs = 0;
  std::array<double, probe_count> best{};  // s; NaN if it was never measured

  bool is_of(const HostProbes& probes, const std::string& version) const;
};
/// Adds one more run.
KnownHost with_run(const KnownHost& known, const HostProbes& probes);
KnownHost known_by(const HostProbes& probes, const std::string& recorder_version);

/// A probe on the host that was slowest compared with its best known speed.
struct ProbeDisplacement {
  std::string host;
  double seconds = 0.0;
  double known_seconds = 0.0;

  /// As a share of the time of the probe. Negative if the host was faster than ever.
  double lost_share() const { return 1.0 - known_seconds / seconds; }
  double speed_percent() const { return 100.0 * known_seconds / seconds; }
};

/// In the order of format/probes.hpp. None if a probe was not measured, or nothing was known about it.
using ProbeDisplacements = std::array<std::optional<ProbeDisplacement>, probe_count>;
ProbeDisplacements probe_displacement(const Profile& profile);

/// In percent of the best known speed of a host. A lower speed counts as slow. The best of a few milliseconds scatters
/// by less than half of the difference to 100 %.
inline constexpr double least_speed_percent = 85.0;

/// The possible cost of a slow machine for a program, as a share of its time: the whole loss of the registers, or half
/// of the loss of the caches or the memory, since few programs wait for them more than half of the time.
double perhaps_lost_share(const ProbeDisplacements& probes);

}  // namespace halcyon
