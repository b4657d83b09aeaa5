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
  std::size_t resource = 0;    // whose loss it may have caused
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

/// `losses`: (resources)(slices) s that the use of each may have cost. A second may be in several: it counts once,
/// since each loss is left without what the demand of all culprits explains. All series are of the same slices.
///
/// Loss and demand are compared after what changes slowly is taken off: the mean over an eighth of the run about each
/// slice. Of what is left of a loss the root is taken, with its sign: a few slices in which very much was lost, by
/// whatever, would hide all others. For such a loss y and a demand d, raised to the power 1, 1/2 or 0, the products at
/// a shift s are
///
///   r(s) = sum over k of y(k) d(k - s) / root of (the sum of y(k)^2 d(k - s)^2, times the share of slices that
///   overlap)
///
/// Their noise is what is left of r at all shifts after what this demand would explain: the root mean square over s' of
/// r(s') - r(s) a(s' - s), with the autocorrelation a of the demand. r(s) over its noise is Student's t with as many
/// degrees of freedom as there are independent shifts, 1 / mean of a^2, less one; it is turned into a normal value. The
/// largest one of five lags (clocks differ, caches delay), of the powers, and of all suspects is the statistic of a
/// shift. If nobody did anything, it is largest at one shift as often as at another, whatever the autocorrelation of
/// the series: the share of shifts at which it is no less than without a shift is the chance of a false accusation (E.
/// Lehmann, J. Romano, "Testing Statistical Hypotheses", 2005, 15.2). The clearest suspect is accused if that is at
/// most 5 %; what it explains is taken off, and the others are looked at again (S. Holm, Scand. J. Stat. 6, 1979).
///
/// What comes at a fixed period fits at many shifts: nobody is accused if r is 80 % of that without a shift at more
/// than 5 % of those that are far. More loss while others demand *less* accuses nobody: a third job, which nobody
/// recorded, slows both. A suspect whose demand explains so much that the accused one no longer stands out is named
/// with it; what that one explains may come at any of the lags and powers.
///
/// What a culprit explains is its demand times the slope of a regression of the loss itself on the demand of all
/// culprits.
/// The error of the slope allows for what the regression leaves being alike near each other (W. Newey, K. West,
/// Econometrica 55, 1987).
Accusations culprits_of(std::span<const std::vector<double>> losses, std::span<const Suspect> suspects);

}  // namespace halcyon
