// The segment in progress: keeps the sums at its start, so that their differences at its end are the segment's own
// values.
#pragma once

#include <array>
#include <cstdint>

#include "libprofile/format/features.hpp"
#include "libprofile/format/time_kinds.hpp"
#include "libprofile/record/cpu_wait.hpp"
#include "libprofile/record/intm_interface.hpp"
#include "libprofile/record/meters.hpp"
#include "libprofile/record/store/segment_store.hpp"
#include "libprofile/record/threads.hpp"

namespace halcyon {

class OpenSegment {
 public:
  /// Opens the first segment, in the thread that has returned from MPI_Init.
  void open_first(ThreadState& thread, const Meters& meters);

  /// Ends the segment at `end`, where the next one begins. Returns the whole row except the call site, with the work of
  /// this thread alone. `wait`: time of the boundary operation on this rank.
  SegmentRow close(ThreadState& thread, const Threads& threads, Ticks end, Ticks wait);

  /// Begins the segment anew: the time since the last boundary is in no segment.
  void restart(ThreadState& thread, const Meters& meters);

  /// The last boundary, or when the segment began anew.
  Ticks start() const { return start_; }
  /// From the first segment's start to the last boundary.
  Ticks elapsed() const { return start_ - first_start_; }
  /// Time in calls of MPI in all segments, of the threads that ended them: ticks.
  double in_mpi() const { return in_mpi_; }
  /// By how much the threads that end segments were busy beyond these in all: ticks. They did so at the same time, each
  /// on a communicator of its own, so that a delay of one is hidden by the segments of another. In the same way, one
  /// thread hides delays of another in regions of OpenMP of which nothing is known: their time is added.
  double side_by_side() const { return side_by_side_; }
  /// The part of the last segment's work that was done in regions of OpenMP, and is that of their threads.
  double work_in_regions() const { return work_in_regions_; }
  /// Of all segments: what threads did there, and may have been spinning for others. It is not in the work.
  double spun_in_regions() const { return spun_in_regions_; }
  /// Counts of the whole run up to the last boundary.
  std::array<std::uint64_t, feature_count> counted() const;

  bool with_injection() const { return injected_totals_ != nullptr; }

 private:
  void begin_to_end_segments(ThreadState& thread);
  void began_before(Ticks then, bool on_another_comm, SegmentRow& row);
  void add_injected(SegmentRow& row);

  Ticks first_start_;
  Ticks start_;
  Ticks gap_;  // before it, and in no segment
  double in_mpi_ = 0.0;
  double side_by_side_ = 0.0;
  double work_in_regions_ = 0.0;
  double spun_in_regions_ = 0.0;
  std::uintptr_t boundary_comm_ = 0;  // of the last segment
  CpuWait cpu_wait_;
  std::array<std::uint64_t, feature_count> counted_{};  // by threads that have ended a segment
  std::array<std::uint64_t, feature_count> counted_by_others_{};
  InjectedTotals injected_totals_ = totals_of_intm();
  std::uint64_t injected_requested_ = 0;
  std::uint64_t injected_actual_ = 0;
};

}  // namespace halcyon
