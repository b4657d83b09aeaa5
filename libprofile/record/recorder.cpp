#include "libprofile/record/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "libprofile/interpose/open_files.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/team.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/plural.hpp"
#include "libprofile/system/process_memory.hpp"

namespace halcyon {

Recorder* recorder = nullptr;

namespace {

void stop_in_forked_child() {
  recording.store(false);
  recorder->gate.note_saved();
  recorder->live.forget();
  recorder->run.keeper = OwnDescriptor();
  recorder->records.let_keeper_go();
}

}  // namespace

void Recorder::begin() {
  if (const int asked = run.settings.boundary_ranks; asked > run.ranks) {
    boundaries.choose(run.settings.boundary, 0);
    if (run.rank == 0) {
      warn("--boundary-ranks " + std::to_string(asked) + " is more than the " + plural(run.ranks, "rank") +
           " of this run; all ranks are used instead");
    }
  }
  spares.reserve();
  records.start(run, open_.with_injection());
  surroundings.measure_before(meters, run.settings);
  clock_gettime(CLOCK_REALTIME, &run.start_time);
  run.process = getpid();
  run.reads_memory = may_read_memory_of(run.process);
  run.system_call_filters = system_call_filters();
  if (direct::thread_id() == run.process) {
    stack_of_first_thread_ = StackOfThread::of_this_thread();
    stack_of_first_thread_->grow();
  }
  open_files.begin();
  pthread_atfork(nullptr, nullptr, stop_in_forked_child);
  if (!run.settings.live_record.empty()) {
    live.join({.record = run.settings.live_record,
               .job = run.settings.job,
               .command = run.settings.command,
               .nanoseconds_per_tick = meters.scale.nanoseconds_per_tick(),
               .work_is_time = meters.counter.kind() == Counter::Kind::cpu,
               .rank = run.rank,
               .ranks = run.ranks});
    constexpr double seconds_between_looks = 0.1;
    live_interval_ = meters.ticks_of(seconds_between_looks);
  }
  ThreadState& thread = current_thread();
  surroundings.begin();
  open_.open_first(thread, meters);
  busy_.begin(threads.mpi_threads(), meters.cpu_clock_use, open_.start());
  if (boundaries.leaves_room_for_steps()) steps.begin(thread, meters.cpu_clock_use.ticks_per_nanosecond, open_.start());
  gate.open();
  if (!run.settings.keeps_profile && run.rank == 0) leave_word_of_run(thread);
}

RankFigures Recorder::figures() const {
  RankFigures figures;
  surroundings.put_into(figures);
  figures.run_time = meters.seconds_of(static_cast<double>((open_.elapsed() - suspended_.time).count));
  figures.suspended = meters.seconds_of(static_cast<double>(suspended_.time.count));
  figures.suspensions = suspended_.times;
  double& off_cpu = figures.evidence[index_of(Evidence::off_cpu)];
  if (off_cpu > 0.0) off_cpu = std::max(0.0, off_cpu - figures.suspended);
  figures.boundary_cost = meters.seconds_of(static_cast<double>(boundary_cost_.count));
  figures.clock_resolution = meters.seconds_of(static_cast<double>(meters.clock_resolution.count));
  figures.nanoseconds_per_tick = meters.scale.nanoseconds_per_tick();
  figures.clock_source = static_cast<std::uint64_t>(meters.clock.source());
  figures.dropped_segments = records.segments().dropped();
  if (busy_.mean() > 0.0) {
    figures.evidence[index_of(Evidence::busy_threads)] = busy_.mean();
    if (meters.counter.kind() == Counter::Kind::cpu) {
      figures.evidence[index_of(Evidence::work_beyond_least)] =
          meters.seconds_of(busy_.beyond_least() + open_.spun_in_regions());
    }
  }
  figures.evidence[index_of(Evidence::mpi_time)] = meters.seconds_of(open_.in_mpi());
  figures.evidence[index_of(Evidence::side_by_side)] = meters.seconds_of(open_.side_by_side());
  const TeamTimes teams = threads.times_of_teams();
  const auto put = [&](Evidence evidence, std::uint64_t ticks) {
    figures.evidence[index_of(evidence)] = meters.seconds_of(static_cast<double>(ticks));
  };
  put(Evidence::region_time, teams.own);
  put(Evidence::region_thread_time, teams.of_threads);
  put(Evidence::region_work, teams.work);
  put(Evidence::region_longest_work, teams.longest_work);
  figures.totals = open_.counted();
  return figures;
}

void Recorder::close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const int saved_errno = errno;
  {
    const OwnFloatingPoint floating_point;
    const Change change(gate, thread);
    try {
      if (recording.load()) record_segment(thread, boundary, site, end, wait);
    } catch (const std::bad_alloc&) {  // this rank then has fewer boundaries than others, and the profile says so
      tell_memory_has_run_out();
    }
  }
  errno = saved_errno;
}

void Recorder::record_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const Ticks began = meters.clock.now();
  const std::uint64_t writes = records.writes();
  settle_region();
  SegmentRow row = open_.close(thread, threads, end, wait);
  measure_others(thread, row);
  row.site = records.sites().number_of(site, boundary, python);
  records.segments().push(row);
  boundaries.note(boundary);
  if (live.is_on()) {
    live.add(row.measured, row.features, row.site, records.sites().sites()[row.site].text);
    if (__builtin_expect(end > next_live_, 0)) publish(row, end);
  }
  const Ticks cost = meters.clock.now() - began;
  if (boundary_cost_.count == 0 || boundary_cost_ > cost) boundary_cost_ = cost;
  if (__builtin_expect(end > next_spill_, 0)) {
    spill_by_the_clock();
  } else if (__builtin_expect(records.writes() != writes, 0)) {  // a block is useless without its tail
    spill(part_is_running);
  }
  // Writing may take long, and belongs to no segment.
  if (__builtin_expect(records.writes() != writes, 0)) {
    open_.restart(thread, meters);
    busy_.restart();
  }
}

// Events of a hardware counter are those of the thread that ends the segment.
void Recorder::measure_others(const ThreadState& thread, SegmentRow& row) {
  double& work = row.features[index_of(Feature::compute)];
  const bool is_known = open_.work_in_regions() > 0.5 * work;  // then other threads have done the smaller part
  const double of_all =
      busy_.work_of_segment(thread.owner.load(std::memory_order_relaxed), work, is_known, open_.start(), meters.clock);
  if (meters.counter.kind() == Counter::Kind::cpu) work = of_all;
  double& wait = row[Measure::cpu_wait];
  wait = std::clamp(busy_.take_wait(), wait, std::max(wait, row[Measure::duration]));
}

void Recorder::look_for_step(ThreadState& thread, const void* site, Ticks entry, Ticks exit) noexcept {
  if (!boundaries.leaves_room_for_steps()) {
    thread.steps = nullptr;
    return steps.forget();
  }
  const OwnFloatingPoint floating_point;
  if (!steps.look(site, entry, exit)) return;
  const int saved_errno = errno;
  settle_region();
  steps.add_row(thread, exit, [this](const void* of_call) { return python.place_of(of_call); });
  const Ticks now = meters.clock.now();
  steps.note_cost(now - exit);
  thread.cpu.skip(now - thread.last_exit);  // recording time is not computation
  thread.last_exit = now;
  meters.count_from_here(thread);
  errno = saved_errno;
}

void Recorder::publish(const SegmentRow& row, Ticks end) {
  next_live_ = end;
  next_live_ += live_interval_;
  const double since_end = 1e9 * meters.seconds_of(static_cast<double>((meters.clock.now() - end).count));
  const std::array<std::uint64_t, feature_count> counted = open_.counted();
  live.publish({.last_end = nanoseconds_of(CLOCK_MONOTONIC) - static_cast<std::uint64_t>(since_end),
                .last = row.measured,
                .suspended_seconds = meters.seconds_of(static_cast<double>(suspended_.time.count)),
                .suspensions = suspended_.times,
                .last_place = row.site,
                .counted = &counted});
}

void Recorder::stand_still(ThreadState& thread) noexcept {
  const NotRecorded guard;
  const Ticks began = meters.clock.now();
  if (!live.stand_still()) return;
  const Change change(gate, thread);
  if (!recording.load()) return;
  open_.restart(thread, meters);
  busy_.restart();
  // Several threads may have stood still at the same time.
  const Ticks end = meters.clock.now();
  suspended_.time += end - (began > suspended_.end ? began : suspended_.end);
  ++suspended_.times;
  suspended_.end = end;
}

// The first boundary is the earliest moment at which all facts for the part are known: an intM in front of the recorder
// reads its SPECs after the recorder has started.
void Recorder::place_part() {
  if (std::exchange(is_part_placed_, true)) return;
  surroundings.find_names(run.settings);
  records.place_part(run, run.facts(meters.counter), surroundings.host());
}

// A run that is killed within the first minute has a row in the ledger, too. Without intM, of which no fact is known
// yet.
void Recorder::leave_word_of_run(ThreadState& thread) {
  if (open_.with_injection()) return;
  const Change change(gate, thread);
  place_part();
  spill(part_is_running);
  open_.restart(thread, meters);
}

void Recorder::spill_by_the_clock() {
  // MPI libraries and libc take some KiB to tell their version and to resolve a path.
  constexpr std::size_t least_stack = std::size_t{64} << 10;
  constexpr double seconds_until_next_try = 0.1;
  const bool is_known = stack_of_first_thread_ && direct::thread_id() == run.process;
  const StackOfThread stack = is_known ? *stack_of_first_thread_ : StackOfThread::of_this_thread();
  if (stack.room() < least_stack) {  // a small thread or a fiber: perhaps the next boundary has more
    next_spill_ = meters.clock.now();
    next_spill_ += meters.ticks_of(seconds_until_next_try);
    return;
  }
  if (!is_part_placed_) {
    place_part();
  } else {
    surroundings.look();
    if (!spill(part_is_running)) warn(records.spill_failure() + "; if the run dies, what it recorded is lost");
  }
  const int interval = run.settings.spill_seconds;
  next_spill_ = interval > 0 ? meters.clock.now() : Ticks{~std::uint64_t{0}};
  if (interval > 0) next_spill_ += meters.ticks_of(interval);
}

}  // namespace halcyon
