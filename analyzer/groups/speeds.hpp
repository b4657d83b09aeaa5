// A machine whose speed changes while a program runs, seen in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halcyon {

/// How the speed changes. It switches between two levels. Or it changes once and stays; another phase of the program
/// may look the same. Or it wanders between any levels; then it is unknown whether it ever was the full speed.
enum class SpeedPattern { switches, changes_once, wanders };

struct Speeds {
  std::vector<float> slowness;  // (segments) durations, in units of those at full speed
  double factor = 1.0;          // slowness at the slower one of two speeds; 1 if there are more than two
  SpeedPattern pattern = SpeedPattern::switches;
};

/// Segments and their durations, converted to the same work as far as the work is known.
struct Comparable {
  std::vector<float> durations;        // (segments) s; 0: not to be compared
  std::vector<std::uint32_t> kind_of;  // (segments) durations of one kind can be compared
  std::uint32_t kinds = 0;
  bool is_same_work = false;  // a hardware counter says so
};

/// The speeds of the machine, if the durations in the order of time show that it had more than one.
///
/// Two speeds are a hidden Markov chain of two states that is common to all kinds (L. R. Rabiner, "A tutorial on hidden
/// Markov models", Proc. IEEE 77, 1989). It is fitted by expectation and maximization to the logarithms of durations.
/// They vary around both levels by Student's t law with three degrees of freedom, so that delays count little. There
/// are two speeds if
/// - the chain explains the run better than the same two levels in any order,
/// - levels stay for some time, and little time is spent between them: a speed that wanders has no two levels,
/// - the shortest durations at the slow speed are longer too: delays in bursts spare some segments,
/// - at one level or both, the number of segments in a stay varies: the program's own pattern would be regular,
/// - the levels do not differ by more than `most_factor`.
/// If segments certainly did the same work, slow changes between any levels are also changes of speed
/// (`slowness_of`).
std::optional<Speeds> find_speeds(const Comparable& run, double most_factor);

}  // namespace halcyon
