// Where the excess of a run went: to which kind of call or to computation, rank, host, part of the run and group.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/format/time_kinds.hpp"

namespace halcyon {

/// What a rank was doing when it lost time. The boundary counts as a collective.
enum class ExcessKind : std::uint8_t { computation, point_to_point, collective, file_io, device };
inline constexpr std::array<std::string_view, 5> excess_kind_names{"computation", "point_to_point", "collective",
                                                                   "file_io", "device"};
inline constexpr std::size_t excess_kind_count = excess_kind_names.size();
using SecondsByKind = std::array<double, excess_kind_count>;

struct RankShare {
  std::uint32_t rank = 0;
  double seconds = 0.0;
  SecondsByKind kinds{};         // s, add up to `seconds`
  double off_cpu_seconds = 0.0;  // part in which the rank was off the CPU, beyond its usual time; 0 in older profiles
  double waited_seconds = 0.0;   // part that was lost to waits for a CPU; 0 in older profiles
  double slept_seconds = 0.0;    // part of that, at least, which was in computation, and no wait for a CPU if known
};

struct HostShare {
  std::string host;
  double seconds = 0.0;
};

struct GroupShare {
  std::uint32_t group = 0;  // number in group_segments of the profile
  std::string site;         // of the boundary that ends its segments
  std::uint64_t segments = 0;
  double baseline_seconds = 0.0;  // of a segment: the mean duration less the excess
  double seconds = 0.0;
};

inline constexpr std::size_t window_count = 20;
inline constexpr std::size_t most_groups_told = 10;

/// The excess of a run, divided in five ways; each adds up to `seconds`, except for rounding.
struct Breakdown {
  double seconds = 0.0;
  SecondsByKind kinds{};
  std::vector<RankShare> ranks;  // that held the others up; largest first
  std::vector<HostShare> hosts;  // of these; largest first
  double window_seconds = 0.0;   // length of each window
  std::array<double, window_count> windows{};
  std::vector<GroupShare> groups;  // largest first
  std::uint64_t other_groups = 0;
  double other_groups_seconds = 0.0;
  /// The part of the excess in which the rank that held the others up was off the CPU, beyond its usual time. None in
  /// older profiles.
  std::optional<double> off_cpu_seconds;
};

/// Divides the excess of each segment (s, may be negative).
///
/// All of it goes to the rank that held the others up. It is divided among kinds by how far that rank's times are above
/// the usual times of the group (below, if the excess is negative). The usual time is the mean over the quarter of the
/// group, or more, whose excess is nearest to zero. A segment's excess may be larger than its times above the usual
/// ones, for example if even the least disturbed segments are disturbed. The rest is then divided as in the whole
/// group. `excess`: (segments).
Breakdown attribute(const Profile& profile, const Grouping& grouping, const std::vector<float>& excess);

/// How the rank that held the others up spent each segment, in s. Summed over the whole run, disturbed or not.
SecondsByKind time_spent(const Profile& profile);

}  // namespace halcyon
