// A machine that switches between two speeds while a program runs, seen in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace halcyon {

struct Speeds {
  double factor = 1.0;             // durations at the slow speed, in units of those at the full one
  std::vector<std::uint8_t> slow;  // (segments) 1 where the machine was slow
  bool changed_once = false;       // and stayed so: another phase of the program may look like that
};

/// Segments and their durations, brought to the same work as far as that is known.
struct Comparable {
  std::vector<float> durations;        // (segments) s; 0: compared with nothing
  std::vector<std::uint32_t> kind_of;  // (segments) durations of one kind can be compared
  std::uint32_t kinds = 0;
};

/// A hidden Markov chain of two states that is common to all kinds (L. R. Rabiner, "A tutorial on hidden Markov
/// models", Proc. IEEE 77, 1989), fitted by expectation and maximization to the logarithms of durations; they vary
/// around both levels by Student's t law with three degrees of freedom, so that delays count little. Nothing unless
/// the order of time says so:
/// - the chain explains the run better than the same two levels in any order,
/// - levels stay for some time, and little of it is spent between them: what wanders has no two levels,
/// - they do not come at a regular number of segments, which is what the program itself does,
/// - they do not differ by more than `most_factor`.
std::optional<Speeds> find_speeds(const Comparable& run, double most_factor);

}  // namespace halcyon
