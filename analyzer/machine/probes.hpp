// Probes of the machine before and after a run: how far each host was from the best that is known of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Of one host, in seconds: the median over its ranks of the best of each. NaN where it was not measured.
struct HostProbes {
  std::string host;
  std::string cpu;  // model of its first rank's processor
  std::size_t ranks = 0;
  std::array<double, probe_count> during{};  // mean of before and after the run
  std::array<double, probe_count> best{};    // the better of both
  std::array<double, probe_count> known{};   // best that was known when the run was judged
};

/// In order of rank; empty where the machine was not probed.
std::vector<HostProbes> host_probes(const Profile& profile);

/// The best that a host has shown with so many ranks on it: memory is shared.
struct KnownHost {
  std::string host;
  std::string cpu;
  std::size_t ranks = 0;
  std::string recorder_version;  // the probes are its code
  std::uint64_t runs = 0;
  std::array<double, probe_count> best{};  // s; NaN where it was never measured

  bool is_of(const HostProbes& probes, const std::string& version) const;
};
/// What is known with one run more.
KnownHost with_run(const KnownHost& known, const HostProbes& probes);
KnownHost known_by(const HostProbes& probes, const std::string& recorder_version);

/// How a probe did on the host that was slowest against the best known of it.
struct ProbeDisplacement {
  std::string host;
  double seconds = 0.0;
  double known_seconds = 0.0;

  /// As a share of the time of the probe. Negative where the host was faster than ever.
  double lost_share() const { return 1.0 - known_seconds / seconds; }
  double speed_percent() const { return 100.0 * known_seconds / seconds; }
};

/// In the order of format/probes.hpp. None where a probe was not measured, or nothing was known of it.
using ProbeDisplacements = std::array<std::optional<ProbeDisplacement>, probe_count>;
ProbeDisplacements probe_displacement(const Profile& profile);

/// In percent of the best known of a host. A lower speed counts as slow. The best of a few milliseconds hardly scatters
/// by half of the difference to 100 %.
inline constexpr double least_speed_percent = 85.0;

/// What a machine that was so slow may have cost a program, as a share of its time: all that the registers lost, and
/// half of what the caches or the memory lost, since few programs wait for them more than half of the time.
double perhaps_lost_share(const ProbeDisplacements& probes);

}  // namespace halcyon
