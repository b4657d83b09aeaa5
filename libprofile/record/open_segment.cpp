#include "libprofile/record/open_segment.hpp"

#include <new>

namespace halcyon {

void OpenSegment::open_first(ThreadState& thread, const Meters& meters) {
  ends_segments(thread);
  meters.begin_counting(thread);
  restart(thread, meters);
  first_start_ = start_;
  if (injected_totals_ != nullptr) injected_totals_(&injected_requested_, &injected_actual_);
}

OpenSegment::OfThread OpenSegment::state_of(const ThreadState& thread) {
  return {&thread, thread.times, thread.work, thread.cpu.off(), thread.beyond_usual};
}

// If memory runs out, calls are not compared: the profile says less, but the program goes on.
void OpenSegment::ends_segments(ThreadState& thread) {
  last_ = state_of(thread);
  if (thread.usual_times == nullptr) thread.usual_times = new (std::nothrow) UsualTimes;
}

SegmentRow OpenSegment::close(ThreadState& thread, const Threads& threads, Ticks end, Ticks wait) {
  if (start_ > end) end = start_;  // another thread's boundary ended later, but was noted first
  SegmentRow row;
  row[Measure::duration] = static_cast<double>((end - start_).count);
  threads.for_each_count([&](std::size_t feature, std::uint64_t sum) {
    row.features[feature] = static_cast<double>(sum - counted_[feature]);
    counted_[feature] = sum;
  });
  // Times and work are those of the thread that ends the segment, since their sum over threads may exceed the duration.
  if (&thread != last_.thread) ends_segments(thread);
  row.features[index_of(Feature::compute)] = static_cast<double>(thread.work - last_.work);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    row[measure_of(static_cast<TimeKind>(kind))] = static_cast<double>((thread.times[kind] - last_.times[kind]).count);
  }
  row[Measure::boundary] = static_cast<double>(wait.count);
  row[Measure::off_cpu] = static_cast<double>((thread.cpu.off() - last_.off_cpu).count);
  row[Measure::beyond_usual] = static_cast<double>((thread.beyond_usual - last_.beyond_usual).count);
  last_ = state_of(thread);
  if (thread.usual_times != nullptr) thread.usual_times->segment_begins();
  if (injected_totals_ != nullptr) add_injected(row);
  start_ = end;
  return row;
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
