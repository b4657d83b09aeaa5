// The time axis of a run: the place of each segment, and the run in equal parts, by time or by number of segments. All
// code that draws, sums or compares along a run uses these.
#pragma once

#include <cstddef>
#include <span>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The time of some segments, in s: their durations, and the gap before each, which is in no segment.
struct TimesOfSegments {
  std::span<const float> durations;
  std::span<const float> gaps;  // empty if they are not known

  double gap(std::size_t segment) const { return gaps.empty() ? 0.0 : static_cast<double>(gaps[segment]); }
  double length() const;
  TimesOfSegments from(std::size_t first, std::size_t end) const {
    return {durations.subspan(first, end - first), gaps.empty() ? gaps : gaps.subspan(first, end - first)};
  }
};

inline TimesOfSegments times_of(const Profile& profile) { return {profile.duration, profile.gap_before}; }

/// Calls `visit(segment, begin, duration)` for each segment in the order of time. Times are in s since the recording
/// began.
template <class Visit>
void along_time(const TimesOfSegments& times, Visit&& visit) {
  double end = 0.0;
  for (std::size_t segment = 0; segment < times.durations.size(); ++segment) {
    const double begin = end + times.gap(segment);
    const double duration = static_cast<double>(times.durations[segment]);
    visit(segment, begin, duration);
    end = begin + duration;
  }
}

/// A sum of times of segments, in s.
double length_of(std::span<const float> seconds);

/// A run in equal parts by time.
struct PartsByTime {
  double seconds = 0.0;  // of the whole run
  std::size_t count = 1;

  double length() const { return seconds / static_cast<double>(count); }
  /// In s since the first segment began. That of part `count` is the end of the run.
  double begin(std::size_t part) const { return static_cast<double>(part) * length(); }
  /// The part that contains a time. A time after the run counts as its last part.
  std::size_t at(double time) const;
};

/// Adds an amount to the parts that it spans, in proportion to the time in each. It begins at `begin` and lasts
/// `duration`, both in s. `sums`: (parts).
void spread_evenly(const PartsByTime& parts, double begin, double duration, double amount, std::span<double> sums);

/// A run in equal parts by number of segments. Sizes differ by one segment if the number cannot be divided.
struct PartsByCount {
  /// The edge of a part may fall within a segment: the part then begins with that segment, or with the next one.
  enum class Edge { before, after };

  std::size_t segments = 0;
  std::size_t count = 1;
  Edge edge = Edge::before;

  /// The first segment of a part. That of part `count` is the number of segments.
  std::size_t begin(std::size_t part) const {
    return (part * segments + (edge == Edge::after ? count - 1 : 0)) / count;
  }
  /// The part that a segment is in.
  std::size_t of(std::size_t segment) const {
    return edge == Edge::after ? segment * count / segments : ((segment + 1) * count - 1) / segments;
  }
};

}  // namespace halcyon
