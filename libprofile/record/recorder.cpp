#include "libprofile/record/recorder.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "libprofile/interpose/next.hpp"
#include "libprofile/record/module_of.hpp"
#include "libprofile/record/packing.hpp"
#include "libprofile/record/receipt.hpp"
#include "libprofile/record/settings.hpp"

namespace halcyon {

std::atomic<bool> recording{false};
Recorder* recorder = nullptr;
constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

std::atomic<bool> has_complained{false};

int thread_id() { return static_cast<int>(syscall(SYS_gettid)); }

// The counts of a thread that has ended still belong to the run: its state goes on under the next thread that begins,
// so that a program with new threads at every step has only as many states as threads at a time.
void release_thread(void* argument) {
  auto* state = static_cast<ThreadState*>(argument);
  this_thread = nullptr;
  recorder->register_lock.lock();
  state->next_free = recorder->free_states;
  recorder->free_states = state;
  recorder->register_lock.unlock();
}

// Of Python a line; else a place in a module. A new module goes to the others, up to most_modules.
std::string text_of(const void* address, Boundary boundary, const Python& python, std::vector<Module>& modules) {
  std::string text(boundary_names[static_cast<std::size_t>(boundary)]);
  // Looked up now, since the module may be gone at the end; a return address is in the module.
  if (address == nullptr) return text;
  if (const PythonPlace* place = python.place_at(address); place != nullptr) {
    return text + "@" + place->file.data() + ":" + std::to_string(place->line);
  }
  std::optional<PlaceInModule> place = module_of(address);
  if (!place) return text + "@+0x0";
  Module& module = place->module;
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%zx", place->offset);
  text += "@" + module.name + offset;
  const bool is_known = std::any_of(modules.begin(), modules.end(), [&module](const Module& other) {
    return other.name == module.name && other.path == module.path && other.build_id == module.build_id;
  });
  const bool fits = modules.size() < most_modules && module.name.size() <= most_module_text &&
                    module.path.size() <= most_module_text && module.build_id.size() <= most_module_text;
  if (!is_known && fits) modules.push_back(std::move(module));
  return text;
}

std::string utc(std::timespec time) {
  std::tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  mpi.Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(std::max(length, 0)));
  return version.substr(0, version.find(','));
}

int members_of_this_world(MPI_Comm comm) {
  MPI_Group world{};
  MPI_Group all{};
  MPI_Group common{};
  int members = 0;
  mpi.Comm_group(mpi.comm_world, &world);
  mpi.Comm_group(comm, &all);
  mpi.Group_intersection(world, all, &common);
  mpi.Group_size(common, &members);
  for (MPI_Group* group : {&world, &all, &common}) {
    mpi.Group_free(group);
  }
  return members;
}

}  // namespace

void complain(const std::string& message) {
  if (has_complained.exchange(true)) return;
  const std::string line = "halcyon: " + message + "\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

ThreadState& register_thread() {
  Recorder& run = *recorder;
  // Threads register while others close segments, whatever level MPI was asked for.
  run.register_lock.lock();
  ThreadState* state = run.free_states;
  if (state != nullptr) {
    run.free_states = state->next_free;
  } else {
    state = new ThreadState;
    run.threads.push_back(state);
  }
  run.register_lock.unlock();
  state->outermost = {};
  state->is_application =
      std::find(run.mpi_threads.begin(), run.mpi_threads.end(), thread_id()) == run.mpi_threads.end();
  state->last_exit = run.clock.now();
  state->cpu.restart(thread_cpu_time());
  this_thread = state;
  if (run.sees_threads_end) pthread_setspecific(run.thread_end, state);
  return *state;
}

Recorder::Recorder() : scale(clock), sees_threads_end(pthread_key_create(&thread_end, release_thread) == 0) {}

// Where memory fails, calls are not compared: the profile says less, the program goes on.
void Recorder::ends_segments(ThreadState& thread) {
  last_closing_ = &thread;
  if (thread.usual_times == nullptr) thread.usual_times.reset(new (std::nothrow) UsualTimes);
}

void Recorder::open_first_segment(ThreadState& thread) {
  if (std::find(threads.begin(), threads.end(), &thread) == threads.end()) threads.push_back(&thread);
  ends_segments(thread);
  begin_segment(thread);
  started_at_ = segment_start_;
  if (injected_totals != nullptr) injected_totals(&injected_requested_, &injected_actual_);
}

void Recorder::begin_segment(ThreadState& thread) {
  thread.cpu.restart(thread_cpu_time());
  if (counter.kind() == Counter::Kind::papi) thread.events_at_exit = counter.read_papi();
  segment_start_ = clock.now();
  thread.last_exit = segment_start_;
}

FixedWork Recorder::measure_background() const {
  const double ticks = 0.5 * settings.background_seconds * 1e9 / scale.nanoseconds_per_tick();
  return measure_fixed_work(clock, {static_cast<std::uint64_t>(ticks)});
}

ProbeTimes Recorder::measure_probes() const {
  return settings.probes ? halcyon::measure_probes(clock, scale.nanoseconds_per_tick()) : ProbeTimes{};
}

bool Recorder::counts_as_boundary(MPI_Comm comm) const {
  const int enough = settings.boundary_ranks > 0 ? settings.boundary_ranks : ranks;
  int size = 0;
  int inter = 0;
  mpi.Comm_size(comm, &size);
  if (size < enough) return false;
  mpi.Comm_test_inter(comm, &inter);
  if (inter != 0) return false;
  return !several_worlds.load(std::memory_order_relaxed) || comm == mpi.comm_world ||
         members_of_this_world(comm) >= enough;
}

// All marks that come early or seldom are the program's business with some other tool, and may be made by some ranks
// only; where a run can be judged by what synchronises it, marks add nothing. The counts are the same on all ranks.
bool Recorder::uses_next_mark() {
  constexpr unsigned fewest_marks = 5;              // before which nothing is said to repeat
  constexpr unsigned enough_synchronizations = 30;  // to judge a run by
  const unsigned mark = marks_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (settings.boundary != BoundaryChoice::automatic) return settings.boundary == BoundaryChoice::pcontrol;
  return mark >= fewest_marks && synchronizations_.load(std::memory_order_relaxed) < enough_synchronizations;
}

int Recorder::process_of(int rank_in_comm, MPI_Comm comm) const {
  if (comm == mpi.comm_world) return rank_in_comm;
  MPI_Group world{};
  MPI_Group of_comm{};
  int in_world = Gathering::nowhere;
  mpi.Comm_group(mpi.comm_world, &world);
  mpi.Comm_group(comm, &of_comm);
  mpi.Group_translate_ranks(of_comm, 1, &rank_in_comm, world, &in_world);
  mpi.Group_free(&world);
  mpi.Group_free(&of_comm);
  return in_world >= 0 ? in_world : Gathering::nowhere;  // MPI_UNDEFINED is below
}

RunFacts Recorder::facts() const {
  return {.recorder_version = HALCYON_VERSION,
          .command = settings.command,
          .boundary = std::string(name_of(settings.boundary)),
          .mpi = mpi_version(),
          .counter = counter.name(),
          .compute_units = counter.kind() == Counter::Kind::cpu ? "ns" : "1",
          .start_time = utc(start_time),
          .inject = injected_spec};
}

RankFigures Recorder::figures() const {
  const double nanoseconds_per_tick = scale.nanoseconds_per_tick();
  const double seconds_per_tick = nanoseconds_per_tick * 1e-9;
  const auto seconds = [=](double ticks) { return ticks * seconds_per_tick; };
  RankFigures known{};
  known.host = host_;
  known.cpu = cpu_;
  known.run_time = seconds(static_cast<double>(elapsed().count));
  known.boundary_cost = seconds(static_cast<double>(boundary_cost.count));
  known.clock_resolution = seconds(static_cast<double>(clock_resolution.count));
  known.nanoseconds_per_tick = nanoseconds_per_tick;
  known.has_tsc = clock.is_tsc() ? 1 : 0;
  known.dropped_segments = segments->dropped();
  known.background = {seconds(background_before.quantum), seconds(background_before.mean),
                      seconds(background_after.quantum), seconds(background_after.mean)};
  known.probes_before = probes_before;
  known.probes_after = probes_after;
  known.totals = counted_;
  known.evidence = evidence_;
  return known;
}

void Recorder::look_at_system() {
  const EvidenceValues now = system_totals();
  for (std::size_t i = 0; i < evidence_count; ++i) {
    // NaN stays NaN; clocks that do not run quite alike, and threads that have ended, make nothing negative.
    evidence_[i] = evidence_infos[i].is_sum ? std::max(now[i] - evidence_at_start[i], 0.0) : now[i];
  }
}

std::uint8_t Recorder::site_index(const void* address, Boundary boundary) {
  const auto place_of = [this, boundary](const void* site) {
    const auto known = std::find_if(sites.begin(), sites.end(), [=](const CallSite& place) {
      return place.address == site && place.boundary == boundary;
    });
    return static_cast<std::size_t>(known - sites.begin());
  };
  std::size_t place = place_of(address);
  if (place == sites.size() && sites.size() + boundary_names.size() >= most_sites) {
    address = nullptr;  // the last places are for all further sites of a kind together
    place = place_of(address);
  }
  if (place < sites.size()) return static_cast<std::uint8_t>(place);
  sites.push_back({address, boundary, text_of(address, boundary, python, modules)});
  return static_cast<std::uint8_t>(sites.size() - 1);
}

void Recorder::close_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const int saved_errno = errno;
  {
    const Change change(*this, thread);
    if (recording.load()) record_segment(thread, boundary, site, end, wait);
  }
  errno = saved_errno;
}

void Recorder::record_segment(ThreadState& thread, Boundary boundary, const void* site, Ticks end, Ticks wait) {
  const Ticks began = clock.now();
  const std::uint64_t writes = part.writes();
  if (segment_start_ > end) end = segment_start_;  // another thread's boundary, that ended later, was noted first
  SegmentRow row;
  row.duration = end - segment_start_;
  row.site = site_index(site, boundary);
  register_lock.lock();
  for (std::size_t feature = 1; feature < feature_count; ++feature) {
    std::uint64_t sum = 0;
    for (const ThreadState* state : threads) sum += state->counts[feature].load(std::memory_order_relaxed);
    row.features[feature] = static_cast<double>(sum - counted_[feature]);
    counted_[feature] = sum;
  }
  register_lock.unlock();
  // Times and work are of the thread that meets the other ranks: the sum over threads may exceed the duration.
  if (&thread != last_closing_) {
    ends_segments(thread);
    timed_ = thread.times;
    worked_ = thread.work;
    off_cpu_ = thread.cpu.off();
    beyond_usual_ = thread.beyond_usual;
  }
  row.features[index_of(Feature::compute)] = static_cast<double>(thread.work - worked_);
  worked_ = thread.work;
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    row.times[kind] = thread.times[kind] - timed_[kind];
    timed_[kind] = thread.times[kind];
  }
  row.times[static_cast<std::size_t>(TimeKind::boundary)] = wait;
  row.off_cpu = thread.cpu.off() - off_cpu_;
  off_cpu_ = thread.cpu.off();
  row.beyond_usual = thread.beyond_usual - beyond_usual_;
  beyond_usual_ = thread.beyond_usual;
  if (thread.usual_times != nullptr) thread.usual_times->segment_begins();
  if (injected_totals != nullptr) {
    std::uint64_t requested = 0;
    std::uint64_t actual = 0;
    injected_totals(&requested, &actual);
    row.injected_requested = static_cast<float>(requested - injected_requested_);
    row.injected_actual = static_cast<float>(actual - injected_actual_);
    injected_requested_ = requested;
    injected_actual_ = actual;
  }
  segments->push(row);
  boundary_kinds_hash = (boundary_kinds_hash ^ static_cast<std::uint64_t>(boundary)) * 0x100000001b3u;
  segment_start_ = end;
  const Ticks cost = clock.now() - began;
  if (boundary_cost.count == 0 || boundary_cost > cost) boundary_cost = cost;
  if (__builtin_expect(end > next_spill_, 0)) {
    spill_by_the_clock();
  } else if (__builtin_expect(part.writes() != writes, 0)) {  // a block, which is nothing without its tail
    spill(part_is_running);
  }
  // Writing may take long, and is in no segment.
  if (__builtin_expect(part.writes() != writes, 0)) begin_segment(thread);
}

// At the first boundary all is known that the part says of the run: an intM in front of the recorder reads its SPECs
// after the recorder has started.
void Recorder::place_part() {
  if (const auto spec = reinterpret_cast<InjectedSpec>(dlsym(RTLD_DEFAULT, injected_spec_symbol))) {
    injected_spec = spec();
  }
  int length = 0;
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  mpi.Get_processor_name(name, &length);
  std::copy_n(name, std::min(sizeof name, host_.size() - 1), host_.begin());
  const std::string cpu = cpu_model();
  std::copy_n(cpu.begin(), std::min(cpu.size(), cpu_.size() - 1), cpu_.begin());
  tail_.reset(new (std::nothrow) std::byte[most_in_tail]);
  if (tail_ == nullptr) return;

  const RunFacts known = facts();
  Packer packer;
  for (const std::string* text : {&known.recorder_version, &known.command, &known.mpi, &known.counter,
                                  &known.compute_units, &known.start_time, &known.inject, &known.boundary}) {
    packer.put_text(*text);
  }
  PartHeader header;
  header.run = run_number();
  char run[20];
  std::snprintf(run, sizeof run, "%016llx", static_cast<unsigned long long>(header.run));
  char file[64];
  std::snprintf(file, sizeof file, "%s.%06d.part", run, rank);
  // Ranks do not start in the same second.
  const std::string output = expand_output(settings.output, ranks, run);
  header.rank = static_cast<std::uint32_t>(rank);
  header.ranks = static_cast<std::uint32_t>(ranks);
  header.with_injection = segments->with_injection() ? 1 : 0;
  part.place(parts_of(output), file, header, packer.take(), most_in_tail);
  if (settings.receipt.empty() && rank == 0) {
    last_line = "halcyon: the run did not reach MPI_Finalize; what it recorded becomes a profile by: halcyon recover " +
                part.directory() + "\n";
  }
}

bool Recorder::spill(PartEnd end) {
  if (tail_ == nullptr || segments->size() == 0) return false;
  const bool blocks_written = segments->spill();
  const std::size_t size = write_tail(tail_.get(), figures(), end, *segments, sites, modules);
  const bool written = part.write_tail(tail_.get(), size) && blocks_written;
  if (!has_receipt_ && part.is_open()) leave_receipt(settings.receipt.c_str(), part.directory().c_str());
  has_receipt_ = part.is_open();
  return written;
}

void Recorder::spill_by_the_clock() {
  const auto interval = static_cast<double>(settings.spill_seconds) * 1e9 / scale.nanoseconds_per_tick();
  if (next_spill_.count == 0) {
    place_part();
  } else {
    look_at_system();
    if (!spill(part_is_running)) {
      complain("cannot write to " + part.directory() + " (" + std::strerror(part.error()) +
               "); if the run dies, what it recorded is lost");
    }
  }
  next_spill_ = {settings.spill_seconds > 0 ? clock.now().count + static_cast<std::uint64_t>(interval)
                                            : ~std::uint64_t{0}};
}

}  // namespace halcyon
