// A segment of one rank, as it is sent to the rank that merges it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/measures.hpp"
#include "libprofile/merge/names.hpp"
#include "libprofile/record/store/segment_store.hpp"

namespace halcyon {

/// A rank's measures of a segment, times in seconds; those of intM only if it was loaded.
using RowMeasures = Measured<float>;

/// How much the rank held the others up (last_rank.hpp).
double lateness_of(const RowMeasures& times);

/// How much later the rank could have come without making the segment longer: what it waited for others in calls of
/// MPI, at most, in seconds. Of a wait for a CPU, only what is beyond the slack makes the segment longer.
float slack_of(const RowMeasures& times);

/// How long the rank computed, in s: it was neither in calls of MPI, files or devices nor asleep. What it waited for a
/// CPU counts.
float computing_of(const RowMeasures& times);

/// From the units in which a rank keeps measures to those of the profile.
class MeasureScale {
 public:
  explicit MeasureScale(double nanoseconds_per_tick);
  RowMeasures of(const StoredSegment& segment) const;

 private:
  Measured<float> scale_{};
};

/// The bytes of a row: its measures in the order of their table, its call site, and its bins of the active features.
class RowLayout {
 public:
  RowLayout(bool with_injection, std::size_t active_features);

  std::size_t bytes() const { return measures_ * sizeof(float) + bins_ * sizeof(std::uint16_t); }
  /// How many: the call site, then one bin per active feature.
  std::size_t bins() const { return bins_; }

  void write(const RowMeasures& measured, const std::uint16_t* bins, std::byte* row) const;
  void read(const std::byte* row, RowMeasures& measured, std::uint16_t* bins) const;

 private:
  std::size_t measures_;
  std::size_t bins_;
};

/// Writes the rows of one rank, with program-wide bins and call sites.
class RowWriter {
 public:
  RowWriter(const ProgramNames& names, const RankRecords& records, const RowLayout& layout);
  void write(std::size_t segment, std::byte* row) const;

 private:
  const ProgramNames& names_;
  const SegmentStore& store_;
  RowLayout layout_;
  MeasureScale scale_;
  std::array<std::array<std::uint16_t, 256>, feature_count> bin_of_slot_{};
  std::array<std::uint16_t, 256> site_of_index_{};
};

}  // namespace halcyon
