// Profiles of runs that never happened, with the time that came from outside known exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon::truth {

/// How the work of a segment varies by itself.
enum class JitterLaw { none, normal, lognormal, gamma };
/// How long one delay is. Pareto has the exponent 1.5 and is cut at 50 times its mean.
enum class DelayLaw { normal, exponential, lognormal, pareto };

/// Segments that do the same work, ended at the same place of the program.
struct Phase {
  std::size_t share = 1;  // segments of an iteration
  double seconds = 2e-2;  // of a segment, undisturbed, at the start
  double growth = 0.0;    // of the work over the whole run: 0.2 ends a fifth longer than it began
};

struct Run {
  int ranks = 1;
  std::size_t segments = 1000;
  std::vector<Phase> phases{Phase{}};
  JitterLaw jitter_law = JitterLaw::none;
  double jitter =
      0.0;  // standard deviation, of the undisturbed duration; on several ranks a quarter of it varies by rank
  DelayLaw delay_law = DelayLaw::exponential;
  double hits = 0.0;                 // delays a segment, on average over the run and added up over ranks
  double slowdown = 0.0;             // excess over duration that is aimed at; what overlaps on different ranks is lost
  double exposed = 1.0;              // share of the time in which delays come at all
  std::size_t burst_segments = 100;  // in a row, where only a share is exposed
  std::uint64_t calls = 0;           // MPI operations of a segment
  double in_calls = 0.0;             // share of the delays that strike calls, and are recorded there
  double slack = 0.0;                // what calls take beyond the usual undisturbed, at random, of the duration
  std::uint64_t seed = 1;
};

struct Truth {
  Profile profile;
  double excess_seconds = 0.0;
  double interference_percent = 0.0;  // of the disturbed run time
};

/// A segment takes what its slowest rank takes; its excess is what it takes longer than the same segment without
/// delays.
Truth make_truth(const Run& run);

}  // namespace halcyon::truth
