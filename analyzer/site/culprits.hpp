// Which other runs explain what a run lost: what they demanded of the machine beside what it lost, slice by slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// What another run demanded of a resource that it shares with the run.
struct Suspect {
  std::uint32_t run = 0;       // the caller's number
  std::size_t resource = 0;    // in the run's losses
  std::vector<double> demand;  // (slices of the run) in any unit; 0 while it did not run
};

/// A suspect that explains a part of what was lost.
struct Culprit {
  std::size_t suspect = 0;
  double chance = 1.0;               // of any suspect looking like this if none had done anything
  double lost_seconds = 0.0;         // in slices in which it demanded something, in proportion to that
  Interval interval_seconds;         // 90 %
  std::vector<std::size_t> or_else;  // suspects whose demand is too much alike: one of them, or it
};

struct Accusations {
  std::vector<Culprit> culprits;  // the clearest one first
  bool are_slices_enough = true;  // for a suspect to be accused at all
};

/// With fewer, no share of shifts is as small as 5 %.
inline constexpr std::size_t fewest_slices_for_culprits = 100;

/// `losses`: (resources)(slices) s that were lost by the use of each. All series are of the same slices.
///
/// Loss and demand are compared after what changes slowly is taken off: the mean over an eighth of the run about each
/// slice. For a resource with loss y, and a suspect with demand d, the statistic of a shift s is the largest one of
///
///   sum over k of y(k) d(k - s - l) / root of the sum of y(k)^2 d(k - s - l)^2
///
/// with lags l of up to two slices, since clocks differ and caches delay; it is divided by its root mean square over all
/// shifts. Shifts go round: what falls off the end comes in at the beginning. If nobody did anything, no shift differs
/// from another, whatever the autocorrelation of the series, so the share of shifts whose largest statistic, over all
/// suspects and resources, is no less than that without a shift is the chance of a false accusation (E. Lehmann, J.
/// Romano, "Testing Statistical Hypotheses", 2005, 15.2). The clearest suspect is accused if it is at most 5 %; what it
/// explains is taken off, and the others are looked at again (S. Holm, "A simple sequentially rejective multiple test
/// procedure", Scand. J. Stat. 6, 1979). All that comes at a fixed period is alike at many shifts, and is never accused.
/// More loss while others demand *less* accuses nobody: a third job that nobody recorded slows both.
///
/// What a culprit explains is its demand times the slope of a regression on the demand of all culprits. The error of
/// the slope is its root mean square over all shifts of what the regression leaves.
Accusations culprits_of(std::span<const std::vector<double>> losses, std::span<const Suspect> suspects);

}  // namespace halcyon
