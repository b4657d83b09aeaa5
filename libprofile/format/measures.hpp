// The measures of a segment on each rank, beside its features: one table for recording, packing and merging.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "libprofile/format/features.hpp"
#include "libprofile/format/time_kinds.hpp"
#include "libprofile/system/in_order.hpp"

namespace halcyon {

enum class Measure : std::uint8_t {
  duration,
  gap,
  off_cpu,
  cpu_wait,
  beyond_usual,
  point_to_point,
  collective,
  boundary,
  file_io,
  device,
  injected_requested,
  injected_actual,
};

/// How a rank keeps a measure until the ranks are merged.
enum class Kept : std::uint8_t {
  whole,      // a float
  share,      // a time, in `bits` bits, as the square root of its share of the duration
  with_intm,  // a float, only where intM is loaded
};

/// What a rank counts a measure in. Merging makes seconds of times.
enum class MeasuredIn : std::uint8_t { ticks, nanoseconds, numbers };

struct MeasureInfo {
  Measure measure;
  Kept kept;
  unsigned bits = 0;
  MeasuredIn unit = MeasuredIn::ticks;  // of the recorder's clock
};

/// Rows in messages and blocks in parts follow this order. The shares of a segment fill words of 64 bits.
inline constexpr std::array<MeasureInfo, 12> measures{{
    {Measure::duration, Kept::whole},
    {Measure::gap, Kept::whole},  // before the segment, and in none: the program was suspended, or records were written
    {Measure::off_cpu, Kept::share, 8},       // overlaps with the kinds of time below
    {Measure::cpu_wait, Kept::share, 8},      // the part of that in which the thread was ready to run
    {Measure::beyond_usual, Kept::share, 8},  // overlaps, too: time of calls beyond the usual
    {Measure::point_to_point, Kept::share, 8},
    {Measure::collective, Kept::share, 8},
    {Measure::boundary, Kept::share, 8},
    {Measure::file_io, Kept::share, 8},
    {Measure::device, Kept::share, 8},
    {Measure::injected_requested, Kept::with_intm, 0, MeasuredIn::nanoseconds},
    {Measure::injected_actual, Kept::with_intm, 0, MeasuredIn::nanoseconds},
}};
static_assert(in_order(measures, &MeasureInfo::measure));
inline constexpr std::size_t measure_count = measures.size();

constexpr std::size_t index_of(Measure measure) { return static_cast<std::size_t>(measure); }

constexpr Measure measure_of(TimeKind kind) {
  return static_cast<Measure>(index_of(Measure::point_to_point) + static_cast<std::size_t>(kind));
}
static_assert(measure_of(TimeKind::point_to_point) == Measure::point_to_point &&
              measure_of(TimeKind::collective) == Measure::collective &&
              measure_of(TimeKind::boundary) == Measure::boundary &&
              measure_of(TimeKind::file_io) == Measure::file_io && measure_of(TimeKind::device) == Measure::device);

/// One value per measure, by index_of().
template <class T>
using Measured = std::array<T, measure_count>;

constexpr std::size_t count_of(Kept kept) {
  std::size_t count = 0;
  for (const MeasureInfo& info : measures) count += info.kept == kept ? 1 : 0;
  return count;
}

}  // namespace halcyon
