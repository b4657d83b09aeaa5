// The time that delays added to a group's segments, from the laws that may explain their durations.
#pragma once

#include <vector>

#include "analyzer/estimate/explain.hpp"

namespace halcyon {

/// The posterior of the time that delays added to a segment of a group, on average.
struct AddedTime {
  double low = 0.0;     // s, 5 % lie below
  double median = 0.0;  // s
  double high = 0.0;    // s, 5 % lie above
  double jitter = 0.0;  // s, standard deviation of undisturbed durations by the most probable law
};
/// `far_out`: a lower bound for the added time under any law, in s for an average segment.
AddedTime added_time(const std::vector<Explanation>& explanations, double mean_duration, double far_out = 0.0);

}  // namespace halcyon
