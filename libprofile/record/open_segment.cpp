#include "libprofile/record/open_segment.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace halcyon {

std::array<std::uint64_t, feature_count> OpenSegment::counted() const {
  std::array<std::uint64_t, feature_count> all = counted_;
  for (std::size_t feature = 0; feature < feature_count; ++feature) all[feature] += counted_by_others_[feature];
  return all;
}

void OpenSegment::open_first(ThreadState& thread, const Meters& meters) {
  cpu_wait_.begin(meters.cpu_clock_use.ticks_per_nanosecond);
  begin_to_end_segments(thread);
  meters.begin_counting(thread);
  first_start_ = start_ = meters.restart(thread);
  thread.at_boundary = thread.sums(start_);
  if (injected_totals_ != nullptr) injected_totals_(&injected_requested_, &injected_actual_);
}

void OpenSegment::restart(ThreadState& thread, const Meters& meters) {
  const Ticks begins = meters.restart(thread);
  gap_ += begins - start_;
  start_ = begins;
}

// If memory runs out, calls are not compared: the profile says less, but the program goes on.
void OpenSegment::begin_to_end_segments(ThreadState& thread) {
  if (thread.usual_times == nullptr) thread.usual_times = new (std::nothrow) UsualTimes;
  // The thread that opened the first segment may have waited in it.
  if (!thread.cpu_wait.was_asked) cpu_wait_.restart(thread.cpu_wait, thread.cpu.off());
}

SegmentRow OpenSegment::close(ThreadState& thread, const Threads& threads, Ticks end, Ticks wait) {
  if (start_ > end) end = start_;  // another thread's boundary ended later, but was noted first
  if (__builtin_expect(!thread.ends_segments.load(std::memory_order_relaxed), 0)) {
    thread.ends_segments.store(true, std::memory_order_relaxed);
    begin_to_end_segments(thread);
  }
  SegmentRow row;
  row[Measure::duration] = static_cast<double>((end - start_).count);
  row[Measure::gap] = static_cast<double>(std::exchange(gap_, {}).count);
  threads.for_each_count(
      [&](std::size_t feature, std::uint64_t sum) {
        row.features[feature] = static_cast<double>(sum - counted_[feature]);
        counted_[feature] = sum;
      },
      [&](std::size_t feature, std::uint64_t sum) { counted_by_others_[feature] = sum; });
  // Times and work are those of the thread that ends the segment, since their sum over threads may exceed the duration.
  // If threads do so in turn, they are those since its last one: what it did in a segment of another, while it waited
  // for that or beside it, was for this one.
  const ThreadState::AtBoundary& last = thread.at_boundary;
  row.features[index_of(Feature::compute)] = static_cast<double>(thread.work - last.work);
  spun_in_regions_ += static_cast<double>(thread.spun_in_regions - last.spun_in_regions);
  side_by_side_ += static_cast<double>((thread.in_blind_regions - last.in_blind_regions).count);
  work_in_regions_ = static_cast<double>(thread.in_regions - last.in_regions);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    row[measure_of(static_cast<TimeKind>(kind))] = static_cast<double>((thread.times[kind] - last.times[kind]).count);
  }
  row[Measure::boundary] = static_cast<double>(wait.count);
  in_mpi_ += row[Measure::point_to_point] + row[Measure::collective] + row[Measure::boundary];
  row[Measure::off_cpu] = static_cast<double>((thread.cpu.off() - last.off_cpu).count);
  row[Measure::beyond_usual] = static_cast<double>((thread.beyond_usual - last.beyond_usual).count);
  if (start_ > last.time) began_before(last.time, thread.boundary_comm != boundary_comm_, row);
  boundary_comm_ = thread.boundary_comm;
  const Ticks waited = cpu_wait_.take(thread.cpu_wait, thread.cpu.off());
  row[Measure::cpu_wait] = std::min(row[Measure::off_cpu], static_cast<double>(waited.count));
  thread.at_boundary = thread.sums(end);
  if (thread.usual_times != nullptr) thread.usual_times->segment_begins();
  if (injected_totals_ != nullptr) add_injected(row);
  start_ = end;
  return row;
}

// The sums of the ending thread began at `then`, in an earlier segment that another thread has ended. It was off the
// CPU in that one first of all. If a communicator of its own joins it to other threads than those, both have worked at
// the same time: being off the CPU may have been a delay, and not its turn to wait.
void OpenSegment::began_before(Ticks then, bool on_another_comm, SegmentRow& row) {
  const double duration = row[Measure::duration];
  const auto before = static_cast<double>((start_ - then).count);
  if (on_another_comm) side_by_side_ += before;
  row[Measure::off_cpu] = std::max(0.0, row[Measure::off_cpu] - before);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    double& time = row[measure_of(static_cast<TimeKind>(kind))];
    time = std::min(time, duration);
  }
  row[Measure::beyond_usual] = std::min(row[Measure::beyond_usual], duration);
}

void OpenSegment::add_injected(SegmentRow& row) {
  std::uint64_t requested = 0;
  std::uint64_t actual = 0;
  injected_totals_(&requested, &actual);
  row[Measure::injected_requested] = static_cast<double>(requested - injected_requested_);
  row[Measure::injected_actual] = static_cast<double>(actual - injected_actual_);
  injected_requested_ = requested;
  injected_actual_ = actual;
}

}  // namespace halcyon
