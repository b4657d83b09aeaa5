// The time that a run lost, as the verdict counts it: what its cause is told from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/attribution/breakdown.hpp"
#include "analyzer/evidence/peers.hpp"
#include "analyzer/phases/phases.hpp"

namespace halcyon {

/// Share of the lost time: who or what has so much of it, is said to have it.
inline constexpr double nearly_all = 0.8;

/// The result of the method used for the verdict, for a group.
struct JudgedGroup {
  std::uint32_t group = 0;         // number in group_segments of the profile
  double baseline_seconds = 0.0;   // undisturbed duration of a segment
  double threshold_seconds = 0.0;  // a longer segment is disturbed
};

struct LostTime {
  double seconds = 0.0;
  double least_seconds = 0.0;       // the low end of its interval
  double speed_seconds = 0.0;       // part in slow stretches of the machine
  double slow_ranks_seconds = 0.0;  // part of ranks that were slower than their peers
  bool is_red = false;
  const Breakdown& breakdown;
  std::span<const float> excess;          // (segments) s
  std::span<const JudgedGroup> groups;    // ascending
  std::span<const LevelChange> changes;   // of the stable part
  const std::vector<RankBehind>& slower;  // ranks, for the same work
};

}  // namespace halcyon
