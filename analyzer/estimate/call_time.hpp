// The time of calls beyond the usual in a group's segments, and how much of it came from outside.
#pragma once

#include "analyzer/estimate/added_time.hpp"
#include "analyzer/statistics/durations.hpp"

namespace halcyon {

/// Time that calls took beyond the usual, s of a segment.
struct CallTime {
  double mean = 0.0;
  double variance = 0.0;     // s^2
  double own_waiting = 0.0;  // upper limit for the part of the mean that is the program's own
};

/// `beyond`: (segments) s. `duration`: mean of the segments, s. Over a network, the time of messages is random anyway,
/// and has no bound.
CallTime call_time_of(Durations beyond, double duration, bool is_on_several_hosts);

/// How much longer a segment gets if its calls take a second longer: the slope of durations on `beyond`, or 1 if it is
/// not certainly less. It is less if the rank with the delays is late for another reason, or if waiting is random
/// anyway. Segments above `longest`, s, are left out, for any reason of their length.
double share_on_critical_path(const Durations& durations, const Durations& beyond, double longest);

/// The time that delays may have added to the calls of a segment. `calls`: their number.
AddedTime added_to_calls(const CallTime& time, double calls, double duration);

}  // namespace halcyon
