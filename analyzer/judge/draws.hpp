// The interval of a sum of several things that are not known, each for itself.
#pragma once

#include <span>

#include "analyzer/statistics/interval.hpp"

namespace halcyon {

/// Something that may be added: any value within the ends, one as probable as another; or nothing or the upper end,
/// each with a probability of one half.
struct Addend {
  Interval ends;
  bool is_all_or_nothing = false;
};

/// The 90 % interval of a value, to which others are added.
///
/// The value has the 90 % interval `likely` around `estimate`: between the estimate and each end, it follows one half
/// of a normal law. It is never beyond `possible`. All are drawn together, again and again: they are seldom all at the
/// same end, so their ends do not add up. What may only be added does not raise the lower end. The draws are the same
/// in each call (M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
Interval interval_of_draws(double estimate, const Interval& likely, const Interval& possible,
                           std::span<const Addend> addends);

}  // namespace halcyon
