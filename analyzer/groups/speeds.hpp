// A machine whose speed changes while a program runs, seen in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halcyon {

/// Another core or clock rate makes work slower by at most this factor. More is other work.
inline constexpr double most_slower = 2.2;

/// How the speed changes. It switches between levels. Or it changes once and stays; another phase of the program may
/// look the same. Or it wanders between any levels; then it is unknown whether it ever was the full speed.
enum class SpeedPattern { switches, changes_once, wanders };

struct Speeds {
  std::vector<float> slowness;  // (segments) durations, in units of those at full speed
  SpeedPattern pattern = SpeedPattern::switches;
};

/// Segments and their durations, converted to the same work as far as the work is known.
struct Comparable {
  std::vector<float> durations;        // (segments) s; 0: not to be compared
  std::vector<std::uint32_t> kind_of;  // (segments) durations of one kind can be compared
  std::uint32_t kinds = 0;
};

/// The speeds of the machine, if the durations in the order of time show that it had more than one.
///
/// The logarithms of durations, above the usual one of their kind, are a series whose level changes
/// (statistics/levels.hpp). The lower quartile of a stretch tells its speed, as delays in bursts spare some segments.
/// Full speed is the lowest one that lasts for a thirtieth of the run. Other levels are speeds if
/// - they are slower by no more than `most_slower`,
/// - the number of segments in a stay varies: the program's own pattern would be regular.
/// Whose they are, the machine's or the program's, is for the caller to say.
std::optional<Speeds> find_speeds(const Comparable& run);

}  // namespace halcyon
