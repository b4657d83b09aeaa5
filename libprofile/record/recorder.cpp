#include "libprofile/record/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace halcyon {

Recorder* recorder = nullptr;

namespace {

std::atomic<bool> has_complained{false};

void stop_in_forked_child() {
  recording.store(false);
  recorder->gate.note_saved();
}

}  // namespace

void complain(const std::string& message) {
  if (has_complained.exchange(true)) return;
  const std::string line = "halcyon: " + message + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void Recorder::begin() {
  records.start(run.settings.memory_bytes, open_.with_injection());
  surroundings.measure_before(meters, run.settings);
  clock_gettime(CLOCK_REALTIME, &run.start_time);
  run.process = getpid();
  pthread_atfork(nullptr, nullptr, stop_in_forked_child);
  ThreadState& thread = current_thread();
  surroundings.begin();
  open_.open_first(thread, meters);
  gate.open();
}

RankFigures Recorder::figures() const {
  RankFigures figures;
  surroundings.put_into(figures);
  figures.run_time = meters.seconds_of(static_cast<double>(open_.elapsed().count));
  figures.boundary_cost = meters.seconds_of(static_cast<double>(boundary_cost_.count));
  figures.clock_resolution = meters.seconds_of(static_cast<double>(meters.clock_resolution.count));
  figures.nanoseconds_per_tick = meters.scale.nanoseconds_per_tick();
  figures.has_tsc = meters.clock.is_tsc() ? 1 : 0;
  figures.dropped_segments = records.segments().dropped();
  figures.totals = open_.counted();
  return figures;
}

void Recorder::close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const int saved_errno = errno;
  {
    const Change change(gate, thread);
    if (recording.load()) record_segment(thread, boundary, site, end, wait);
  }
  errno = saved_errno;
}

void Recorder::record_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const Ticks began = meters.clock.now();
  const std::uint64_t writes = records.writes();
  SegmentRow row = open_.close(thread, threads, end, wait);
  row.site = records.sites().number_of(site, boundary, python);
  records.segments().push(row);
  boundaries.note(boundary);
  const Ticks cost = meters.clock.now() - began;
  if (boundary_cost_.count == 0 || boundary_cost_ > cost) boundary_cost_ = cost;
  if (__builtin_expect(end > next_spill_, 0)) {
    spill_by_the_clock();
  } else if (__builtin_expect(records.writes() != writes, 0)) {  // a block is useless without its tail
    spill(part_is_running);
  }
  // Writing may take long, and belongs to no segment.
  if (__builtin_expect(records.writes() != writes, 0)) open_.restart(thread, meters);
}

// The first boundary is the earliest moment at which all facts for the part are known: an intM in front of the recorder
// reads its SPECs after the recorder has started.
void Recorder::spill_by_the_clock() {
  if (next_spill_.count == 0) {
    surroundings.find_names();
    records.place_part(run, run.facts(meters.counter));
  } else {
    surroundings.look();
    if (!spill(part_is_running)) complain(records.spill_failure() + "; if the run dies, what it recorded is lost");
  }
  const int interval = run.settings.spill_seconds;
  next_spill_ = interval > 0 ? meters.clock.now() : Ticks{~std::uint64_t{0}};
  if (interval > 0) next_spill_ += meters.ticks_of(interval);
}

}  // namespace halcyon
