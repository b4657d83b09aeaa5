// Profiles of runs that never happened, with the time that came from outside known exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libprofile/format/profile.hpp"

namespace halcyon::truth {

/// How the duration of a segment varies by itself. `shape` of a Weibull law follows from the deviation.
enum class JitterLaw { none, normal, lognormal, gamma, uniform, weibull, triangular, logistic };
/// How long one delay is: a law of mean 1. Its parameter is Run::delay_parameter, 0 for what is usual: the relative
/// standard deviation of normal (0.2), sigma of lognormal (1), exponent of Pareto (1.5; cut at 50 means), shape of
/// Weibull (1.5) and gamma (3). `two_point` is 0.5 or 3, `proportional` is uniform times the segment's duration.
enum class DelayLaw { normal, exponential, lognormal, pareto, uniform, weibull, gamma, two_point, proportional };

/// Segments that do the same work, ended at the same place of the program.
struct Phase {
  std::size_t share = 1;  // segments of an iteration
  double seconds = 2e-2;  // of a segment, undisturbed, at the start
  double growth = 0.0;    // of the work over the whole run: 0.2 ends a fifth longer than it began
  bool varies = true;     // as Run::variation says
  bool is_struck = true;  // by `hits`
};

/// What the compute feature counts. Simple: one value a phase, and none of what varies. CPU time follows the speed of
/// the machine and the jitter of computation, as it does where memory is shared. Of several threads it is the least,
/// and how long others spun is recorded apart; instructions contain it (docs/recording.md, "Threads").
enum class Counter { simple, instructions, cpu_time };

/// Work that differs within a phase: the program's own. It turns from usual to more and back after half a period each;
/// random turns do so after half a period on average.
struct Variation {
  enum class Pattern { none, random, sawtooth, every_so_often, walk, wave, turns, random_turns, lognormal, steps_up };
  Pattern pattern = Pattern::none;
  double spread = 0.0;      // +- of the work; how much longer, if some segments are; sigma of lognormal
  std::size_t period = 50;  // segments, of patterns that come again
  bool is_counted = true;   // by the compute feature
  double fixed = 0.0;       // share of the duration that does not follow the work
  double curvature = 0.0;   // of the duration as a function of the work
};

/// Segments of another kind of work, at random, with equal features.
struct OtherKind {
  double share = 0.0;
  double longer = 0.0;
};

/// A machine that computes more slowly at times. It changes once and stays slow, or gets slower all along: then
/// `factor` is that of the end.
struct Speed {
  enum class Pattern { constant, random_switching, periodic_switching, wave, walk, changes_once, slows_down };
  Pattern pattern = Pattern::constant;
  double factor = 1.0;         // durations at the slow speed
  double dwell_seconds = 1.0;  // at one speed, on average; of a wave half its length
  double slow_share = 0.5;     // of the time; where it changes once, of the time that it would take undisturbed
};

/// What wakes up by the clock and delays one rank.
struct Daemon {
  double period = 1.0;   // s
  double seconds = 0.0;  // of a delay, on average
};

struct Run {
  int ranks = 1;
  std::size_t segments = 1000;
  std::vector<Phase> phases{Phase{}};
  JitterLaw jitter_law = JitterLaw::none;
  double jitter =
      0.0;  // standard deviation, of the undisturbed duration; on several ranks a quarter of it varies by rank
  double jitter_correlation = 0.0;  // of one segment's jitter with the next one's
  DelayLaw delay_law = DelayLaw::exponential;
  double delay_parameter = 0.0;
  double hits = 0.0;                 // delays a segment, on average over the run and added up over ranks
  double slowdown = 0.0;             // excess over duration that is aimed at; what overlaps on different ranks is lost
  double exposed = 1.0;              // share of the time in which delays come at all
  std::size_t burst_segments = 100;  // in a row, where only a share is exposed
  double disturbed_from = 0.0;       // share of the run before which nothing comes from outside
  int disturbed_ranks = 0;           // that delays strike; 0: all
  std::vector<Daemon> daemons;       // delays of the same law, beside `hits`
  int threads = 1;                   // that are busy on each rank, with equal work: delays strike any of them, and the
                                     // one that calls MPI spins for the others
  bool delays_use_cpu = false;       // CPU time contains them: what interrupts and hypervisors take looks like work
  bool is_theft_told = false;        // the kernel says how much of that a hypervisor took: all
  double late_rank = 0.0;            // how much more work the first rank always has
  double rank_spread = 0.0;          // +- of the work of each rank in each segment
  std::uint64_t calls = 0;           // MPI operations of a segment
  double in_calls = 0.0;             // share of the delays that strike calls, and are recorded there
  double slack = 0.0;                // what calls take beyond the usual undisturbed, at random, of the duration
  Counter counter = Counter::simple;
  double counter_noise = 0.002;  // relative standard deviation of what is counted
  Variation variation;
  OtherKind other_kind;
  Speed speed;
  std::uint64_t seed = 1;
};

struct Truth {
  Profile profile;
  double excess_seconds = 0.0;
  double interference_percent = 0.0;  // of the disturbed run time
};

/// A segment takes what its slowest rank takes; its excess is what it takes longer than the same segment without
/// delays and at the full speed of the machine.
Truth make_truth(const Run& run);

}  // namespace halcyon::truth
