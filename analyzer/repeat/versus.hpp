// Two programs, or two builds of one, in pairs of neighbouring runs: which of them is faster, and by how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/repeat/mean_time.hpp"
#include "analyzer/repeat/series_run.hpp"
#include "analyzer/repeat/stopping.hpp"

namespace halcyon {

/// B against A. `contradiction`: the answers that the run times allow exclude each other.
enum class VersusVerdict : std::uint8_t { faster, slower, same, unclear, contradiction };
constexpr std::string_view name_of(VersusVerdict verdict) {
  switch (verdict) {
    case VersusVerdict::faster: return "faster";
    case VersusVerdict::slower: return "slower";
    case VersusVerdict::same: return "same";
    case VersusVerdict::contradiction: return "contradiction";
    case VersusVerdict::unclear: break;
  }
  return "unclear";
}

/// Whose the time is that the runs' estimates take to come from outside. What comes from outside meets A and B alike,
/// since they take turns; what follows one of them is that program's own, such as its sleeps.
enum class Attribution : std::uint8_t { outside, open, program };
constexpr std::string_view name_of(Attribution attribution) {
  switch (attribution) {
    case Attribution::outside: return "outside";
    case Attribution::program: return "program";
    case Attribution::open: break;
  }
  return "open";
}

/// Neighbouring runs of A and B.
struct RunPair {
  RepeatedRun a;
  RepeatedRun b;
  bool is_warm_up = false;  // one of the two is
};

/// Whether it is in the ratio: both runs count.
bool pair_counts(const RunPair& pair);

/// Times of B over times of A. Above 1: B is slower.
struct TimeRatio {
  std::size_t pairs = 0;
  double ratio = 1.0;                // geometric mean over pairs; undefined without a pair
  std::optional<Interval> interval;  // paired; none with fewer than two pairs
  std::optional<Interval> welch;     // of the same runs as two samples
  /// Total number of pairs until the half width is versus_half_width_percent(). None with fewer than two pairs, or if
  /// the floor is above that.
  std::optional<std::size_t> pairs_needed;
  double confidence = 0.0;
  double log_random = 0.0;  // half width of the part of the logarithm's interval that more pairs make narrower
  // The part that more pairs do not make narrower, from errors that all runs share. 0 for measured times.
  double log_floor_below = 0.0;
  double log_floor_above = 0.0;

  /// Half of the width of an interval whose logarithm is as wide, with 1 in its middle; in percent.
  std::optional<double> half_width_percent() const;
  /// Its expected value after `all_pairs` pairs, if their scatter stays the same.
  std::optional<double> half_width_percent_after(std::size_t all_pairs) const;
  /// Its lower limit.
  double floor_percent() const;
};

struct Versus {
  TimeRatio undisturbed;
  TimeRatio measured;
  TimeRatio interference;  // of measured over undisturbed times
  Attribution attribution = Attribution::open;
  VersusVerdict verdict = VersusVerdict::unclear;
  std::size_t pairs_left_out = 0;  // one of the runs failed, did other work, was warm-up or has no estimate

  /// By the undisturbed times where these can tell; else the answer needs the measured ones.
  bool is_by_undisturbed() const {
    return attribution == Attribution::outside ||
           (attribution == Attribution::open && verdict != VersusVerdict::unclear);
  }
  const TimeRatio& answer() const { return is_by_undisturbed() ? undisturbed : measured; }
};

/// The interval is that of the mean over pairs, combined in quadrature with the effect of an error that all runs share.
/// Such an error is the same share of the reach of all runs (estimates.hpp), of A and of B. It cancels except for the
/// difference of their reaches.
///
/// Few pairs that are known much better do not outweigh the others: how far intervals reach says less about a pair,
/// since most of it is an error that A and B share.
///
/// Each run must be judged alone. If runs are judged with other runs of their program as known runs, they share the
/// errors of the best of them. These do not cancel and do not scatter from pair to pair.
///
/// A ratio is `same` if its whole interval lies within 1 +- `within_percent`; `faster` or `slower` if it is not that,
/// and the whole interval lies to one side of 1; else `unclear`. Which ratio gives the verdict depends on that of the
/// interference, which is 1 if the latter comes from outside:
/// - its 99.9 % interval does not hold 1: `program`, and the measured times give it. If both give opposite answers,
///   the verdict is `contradiction`;
/// - without what the kernel saw others take, its 80 % interval holds 1: `outside`, and the undisturbed times give it;
/// - between these: `open`. The undisturbed times then tell a faster program from a slower one if the measured ratio
///   lies on the same side of 1, and that two are the same if the measured times say so, too: it is so then whosever
///   the interference is.
/// The levels are not symmetric, since an error is not: one of five comparisons of equal programs needs more pairs, and
/// one of a thousand looks blames a program for a neighbour.
///
/// Pairs are made until nothing is unclear: until an interval around 1, wherever it lies, cannot reach beyond the
/// limits (versus_half_width_percent()).
Versus compare_pairs(std::span<const RunPair> pairs, const Precision& precision);

/// The half width, in percent, at which a comparison stops. An interval of the ratio from 1 to 1 + W, the worst case,
/// has a logarithm of the width log(1 + W). For small W this is half of `within_percent`.
double versus_half_width_percent(double within_percent);

/// For outlook_of(), with `versus_half_width_percent(within_percent)` as the rule's width. The floor counts when the
/// random part of the interval is not above it.
KnownSoFar known_so_far(const Versus& versus);

/// How often this number of pairs of A against itself would be called faster or slower, for `--aa`: each repetition
/// chooses at random which run of each pair is A. A share from 0 to 1; none with fewer than `default_least_runs` pairs
/// that count.
std::optional<double> false_alarm_share(std::span<const RunPair> pairs, const Precision& precision,
                                        std::size_t repetitions, std::uint64_t seed);

}  // namespace halcyon
