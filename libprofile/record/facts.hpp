// What is known of a run and of each rank beside the segments: gathered from the ranks when the run ends, or from their
// parts when it did not.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/format/probes.hpp"
#include "libprofile/format/schema.hpp"

namespace halcyon {

/// The run's circumstances, as any of its ranks tells them.
struct RunFacts {
  std::string recorder_version;
  std::string command;
  std::string boundary;  // what ends segments, as HALCYON_BOUNDARY has it
  std::string mpi;
  std::string counter;
  std::string compute_units;
  std::string start_time;
  std::string inject;
};

/// The model of a processor, with the NUL that ends it.
inline constexpr std::size_t most_cpu_text = 128;

/// One rank's own figures, in seconds; sent and stored as they lie in memory.
struct RankFigures {
  std::array<char, 256> host;           // NUL-ended
  std::array<char, most_cpu_text> cpu;  // NUL-ended
  double run_time;
  double boundary_cost;
  double clock_resolution;
  double nanoseconds_per_tick;
  std::uint64_t has_tsc;
  std::uint64_t dropped_segments;
  std::array<double, background_names.size()> background;  // of background_names
  ProbeTimes probes_before;
  ProbeTimes probes_after;
  std::array<std::uint64_t, feature_count> totals;
  EvidenceValues evidence;
};
static_assert(std::is_trivially_copyable_v<RankFigures>);

}  // namespace halcyon
