// The ranks that took longer than their peers: by how much, what followed from it for the run, and whose doing it was.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/statistics/interval.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Whose doing it is that a rank is behind.
enum class Whose : std::uint8_t { machine, program, unknown };
inline constexpr std::array<std::string_view, 3> whose_names{"machine", "program", "unknown"};

/// A rank behind its peers.
struct RankBehind {
  std::uint32_t rank = 0;
  double times = 1.0;         // as long as its peers for the same work, or as much work as they had
  Interval times_interval;    // 90 %, from the eighths of the run
  double lost_seconds = 0.0;  // of the run time
  Interval lost_interval_seconds;
  Whose whose = Whose::unknown;
};

/// Those that cost the run at least 1 % of its time, the most expensive first.
struct PeerComparison {
  std::vector<RankBehind> slower;     // for the same work
  std::vector<RankBehind> more_work;  // than the others
};
PeerComparison compare_with_peers(const Profile& profile);

/// (segments) s that each lost to ranks on which the machine was slower; empty if there is none.
std::vector<float> lost_to_slower_machine(const Profile& profile, const PeerComparison& peers);

/// The ends of a sum of what several ranks lost, 1 for the sum itself.
Interval relative_interval(const std::vector<RankBehind>& ranks);

}  // namespace halcyon
