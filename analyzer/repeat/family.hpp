// Several programs that take turns: each is compared with the first one, A, and all comparisons are right together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/repeat/versus.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// The order in which the programs 0, 1, ... run in a round, from round 0 on: a row of a balanced square, or that row
/// backwards in each second round (E. J. Williams, "Experimental designs balanced for the estimation of residual
/// effects of treatments", Aust. J. Sci. Res. A 2, 1949). Over all rows, each program has each place, and follows each
/// other program, equally often. A steady drift of the machine cancels over two rounds. Two programs: A B, B A.
std::vector<std::size_t> turns_of_round(std::size_t programs, std::size_t round);

/// For each of several comparisons, so that all of them together are right with the asked confidence (Bonferroni).
Precision of_each_comparison(Precision together, std::size_t comparisons);

/// The series makes rounds until every comparison is known. A comparison whose floor is too high for that holds the
/// others up no longer than they need: it counts once they are known. `enough_percent`: the half width that is enough.
KnownSoFar known_together(std::span<const Versus> comparisons, double enough_percent);

/// How a program's time compares with that of A, for a ranking.
struct RankedTime {
  double ratio = 1.0;                // over the time of A
  std::optional<Interval> interval;  // none: it may be anything

  static RankedTime of_first() { return {1.0, Interval{1.0, 1.0}}; }
  /// What is not told from A's time may be A's time.
  static RankedTime of(const Versus& versus);
};

/// A program's place among all: 1 is the fastest. From `first` to `last`, as others may be faster or not. All hold
/// together if all intervals do (D. Mohamad, J. J. Goeman, E. W. van Zwet, "Simultaneous confidence intervals for ranks
/// with application to ranking institutions", Biometrics 78, 2022).
struct Place {
  std::size_t program = 0;
  std::size_t first = 1;
  std::size_t last = 1;
};
/// The fastest program first.
std::vector<Place> places(std::span<const RankedTime> times);

}  // namespace halcyon
