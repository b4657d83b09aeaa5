// What the calls of a group's segments took beyond what is usual for them, and how much of it came from outside.
#pragma once

#include "analyzer/estimate/added_time.hpp"
#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// Time that calls took beyond the usual, s of a segment.
struct CallTime {
  double mean = 0.0;
  double variance = 0.0;     // s^2
  double own_waiting = 0.0;  // the most of the mean that may be the program's own
};

/// `beyond`: (segments) s. `duration`: mean of the segments, s. Over a network messages take a random time by
/// themselves, and nothing bounds it.
CallTime call_time_of(const Durations& beyond, double duration, bool is_on_several_hosts);

/// By how much a segment gets longer where its calls take a second longer: the slope of durations on `beyond`, or 1
/// where it is not less for sure. It is less where the rank with the delays is late anyway, or where waiting is random
/// by itself. The longest segments are left out, whatever delayed them. `ascending`: the durations, sorted.
double share_on_critical_path(const Durations& durations, const Durations& beyond, const Durations& ascending);

/// What delays may have added to the calls of a segment that holds so many of them.
AddedTime added_to_calls(const CallTime& time, double calls, double duration);

}  // namespace halcyon
