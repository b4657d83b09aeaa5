// One recorded call of the program in libhalcyon.so: reads the clock before and after it, and notes what it did. The
// notes of mpi.table are its member functions.
#pragma once

#include <cstring>

#include "libprofile/format/boundary.hpp"
#include "libprofile/format/time_kinds.hpp"
#include "libprofile/interpose/call_class.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/record/infos_for_children.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/wrappers/shared_state_lock.hpp"
#include "libprofile/wrappers/volumes.hpp"

namespace halcyon {

/// Names that the notes of the tables use.
enum BlockingMode { blocking, nonblocking };
enum CollectiveShape { one_to_all, all_to_one, all_to_all };

constexpr Feature sends_of(BlockingMode mode) {
  return mode == blocking ? Feature::sends_blocking : Feature::sends_nonblocking;
}
constexpr Feature receives_of(BlockingMode mode) {
  return mode == blocking ? Feature::receives_blocking : Feature::receives_nonblocking;
}
constexpr Feature collectives_of(CollectiveShape shape) {
  return shape == one_to_all   ? Feature::collectives_one_to_all
         : shape == all_to_one ? Feature::collectives_all_to_one
                               : Feature::collectives_all_to_all;
}

/// One call of the application, from entry to exit of the outermost wrapper. Calls that MPI or another tool makes
/// inside it are not recorded. It is inlined into every wrapper, and every wrapper into the exported function. This
/// makes the library twice as large, but a call 9 ns cheaper: its class is a constant and its members stay in
/// registers.
class RecordedCall {
 public:
  [[gnu::always_inline]] RecordedCall(CallClass call_class, Caller caller) noexcept
      : RecordedCall(call_class, caller, [](const ThreadState&) { return true; }) {}

  /// If the call is not inside another one, `is_recorded(thread)` is asked.
  template <class IsRecorded>
  [[gnu::always_inline]] RecordedCall(CallClass call_class, Caller caller, IsRecorded is_recorded) noexcept
      : site_(caller.site), class_(call_class) {
    if (__builtin_expect(!recording.load(std::memory_order_acquire), 0)) return;
    ThreadState& thread = current_thread();
    if (thread.outermost.is_around(caller)) return;
    if (!is_recorded(thread)) return;
    thread.outermost.begin(caller);
    thread_ = &thread;
    if (call_class == CallClass::local || (call_class == CallClass::poll && !thread.polling.is_timed())) return;
    const Meters& meters = recorder->meters;
    // PAPI allocates memory, which a signal handler must not; MPI itself must not be called in one.
    if (call_class != CallClass::posixio) meters.begin_counting(thread);
    entry_ = meters.clock.now();
    if (call_class != CallClass::poll) {
      meters.end_computation(thread, entry_);
    } else if (meters.counts_events()) {
      events_began_ = meters.counter.papi().begin_stretch(thread.events);
    }
  }
  /// An UntimedPoll of this thread has found something.
  RecordedCall(ThreadState& thread, const void* site) noexcept
      : site_(site), class_(CallClass::poll), thread_(&thread) {}
  [[gnu::always_inline]] ~RecordedCall() {
    if (thread_ == nullptr) return;
    compare_with_usual();
    note_recurring();
    // What was noted of the call is no computation. Few runs count events, so this is asked first.
    const Meters& meters = recorder->meters;
    if (meters.counts_events() && exit_.count != 0) meters.count_from_here(*thread_);
    thread_->outermost.end();
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  bool records() const { return thread_ != nullptr; }

  /// The real function has returned. A poll calls this only if it has found something.
  [[gnu::always_inline]] void ended() noexcept {
    if (class_ == CallClass::local) return;
    exit_ = recorder->meters.clock.now();
    if (class_ == CallClass::poll) {
      if (entry_.count == 0) entry_ = exit_ - thread_->polling.usual();
      if (thread_->last_exit > entry_) entry_ = thread_->last_exit;
      recorder->meters.end_computation(*thread_, entry_);
    }
    time_of(kind_of(class_)) += exit_ - entry_;
    recorder->meters.begin_computation(*thread_, entry_, exit_);
  }

  /// A poll has found nothing. Few of these read the clock (record/polling.hpp).
  [[gnu::always_inline]] void found_nothing() noexcept {
    if (__builtin_expect(entry_.count != 0, 0)) recorder->meters.time_poll(*thread_, entry_, events_began_);
    thread_->polling.found_nothing();
  }

  // -- the notes of the table

  /// MPI has given the handle to a new request. If it belonged to a request that another thread has completed, but not
  /// yet noted, the old request is over: whoever completes the new request must not mistake it for the old one.
  void request_made(MPI_Request request) {
    if (!recorder->run.several_threads || recorder->calls.requests.empty()) return;
    const SharedStateLock lock;
    recorder->calls.requests.hand_over(request);
  }
  void send(BlockingMode mode, MPI_Count count, MPI_Datatype type, int destination) {
    thread_->add(sends_of(mode), 1);
    if (destination != MPI_PROC_NULL) move(Feature::bytes_sent, bytes(count, type));
  }
  void receive(BlockingMode mode, const MPI_Status& status) {
    thread_->add(receives_of(mode), 1);
    move(Feature::bytes_received, bytes_of(status));
  }
  void receive_posted(MPI_Request request, int source = MPI_ANY_SOURCE) {
    thread_->add(Feature::receives_nonblocking, 1);
    if (source != MPI_PROC_NULL && !is_shared(request))
      remember(request, {.operation = PendingRequest::Operation::receive});
  }
  void isendrecv_posted(MPI_Request request, int source) {
    receive_posted(request, knows_bytes_of_isendrecv ? source : MPI_PROC_NULL);
  }
  void persistent_send(MPI_Request request, MPI_Count count, MPI_Datatype type, int destination) {
    remember(request, {.bytes = destination != MPI_PROC_NULL ? bytes(count, type) : 0,
                       .operation = PendingRequest::Operation::send,
                       .counted = Feature::sends_nonblocking,
                       .persistent = true});
  }
  /// Partitions are counted as they become ready; PendingRequest::bytes is the size of one partition.
  void partitioned_send(MPI_Request request, MPI_Count count, MPI_Datatype type, int destination) {
    remember(request, {.bytes = destination != MPI_PROC_NULL ? bytes(count, type) : 0,
                       .operation = PendingRequest::Operation::partitioned_send,
                       .counted = Feature::sends_nonblocking,
                       .persistent = true});
  }
  void partitions_ready(MPI_Request request, int partitions) {
    const SharedStateLock lock;
    const PendingRequest* pending = recorder->calls.requests.find(request);
    if (pending == nullptr || partitions <= 0) return;
    const auto number = static_cast<std::uint64_t>(partitions);
    thread_->add(pending->counted, number);
    move(Feature::bytes_sent, number * pending->bytes);
  }
  void persistent_receive(MPI_Request request) {
    remember(request, {.operation = PendingRequest::Operation::receive,
                       .counted = Feature::receives_nonblocking,
                       .persistent = true});
  }
  void collective(CollectiveShape shape, std::uint64_t volume) {
    thread_->add(collectives_of(shape), 1);
    move(Feature::bytes_collective, volume);
  }
  void persistent_collective(MPI_Request request, CollectiveShape shape, std::uint64_t volume) {
    remember(request, {.bytes = volume,
                       .operation = PendingRequest::Operation::collective,
                       .counted = collectives_of(shape),
                       .persistent = true});
  }
  void rma(MPI_Count count, MPI_Datatype type, int target) {
    thread_->add(Feature::rma_operations, 1);
    if (target != MPI_PROC_NULL) move(Feature::rma_bytes, bytes(count, type));
  }
  void file_open() { thread_->add(Feature::file_opens, 1); }
  void file_close() { thread_->add(Feature::file_closes, 1); }
  void file_read(std::uint64_t volume) { note_file(Feature::reads, Feature::bytes_read, volume); }
  void file_read(const MPI_Status& status) { file_read(bytes_of(status)); }
  void file_write(std::uint64_t volume) { note_file(Feature::writes, Feature::bytes_written, volume); }
  void file_write(const MPI_Status& status) { file_write(bytes_of(status)); }

  /// Processes with a world of their own were started.
  void spawned(const InfosForChildren& infos) {
    meets_another_world();
    if (!infos.are_recorded()) recorder->run.has_unrecorded_children.store(true, std::memory_order_relaxed);
  }
  /// The program can now talk to processes of another MPI_COMM_WORLD.
  void meets_another_world() { recorder->run.several_worlds.store(true, std::memory_order_relaxed); }

  // -- boundaries

  void boundary(Boundary operation, MPI_Comm comm) {
    if (synchronizes(comm)) end_segment(operation, place());
  }
  /// A non-blocking collective ends the segment when it completes, a persistent one each time it completes.
  void boundary_posted(MPI_Request request, Boundary operation, MPI_Comm comm) {
    if (synchronizes(comm)) ends_segment_when_complete(request, operation);
  }
  /// A blocking Reduce or Gather has returned: at the root it returns only after all ranks have entered it. A
  /// non-blocking one does not count, since only its root knows when all ranks have entered it.
  void gathered(int root, MPI_Comm comm) {
    if (!recorder->boundaries.uses(BoundaryChoice::rooted) || !recorder->boundaries.counts(comm, recorder->run)) return;
    thread_->gathering.at(recorder->run.process_of(root, comm));
  }
  /// A Bcast or Scatter, which is a boundary if all ranks had entered a Reduce or Gather to the same root before.
  void boundary(Boundary operation, MPI_Comm comm, int root) {
    if (ends_pair(comm, root)) end_segment(operation, place());
  }
  void boundary_posted(MPI_Request request, Boundary operation, MPI_Comm comm, int root) {
    if (ends_pair(comm, root)) ends_segment_when_complete(request, operation);
  }
  /// A mark by the user. It does not synchronize.
  void mark() {
    if (recorder->boundaries.uses_next_mark()) end_segment(Boundary::pcontrol, place());
  }

  // -- mpi4py's reductions of objects (record/pickled_reductions.hpp)

  void duplicated(MPI_Comm comm) {
    if (!recorder->boundaries.uses(BoundaryChoice::rooted) || !recorder->python.is_mpi4py(site_) ||
        !recorder->boundaries.counts(comm, recorder->run)) {
      return;
    }
    const int ranks = static_cast<int>(members(comm));
    const SharedStateLock lock;
    recorder->calls.pickled_comms.add({.comm = comm,
                                       .process = recorder->run.process_of(0, comm),
                                       .reduction = {rank_in(comm), ranks},
                                       .is_alone = ranks == 1});
  }
  void message(MPI_Comm comm, bool is_sent, int other, int tag) {
    if (__builtin_expect(recorder->calls.pickled_comms.empty(), 1)) return;
    const SharedStateLock lock;
    PickledComms::One* const pickled = recorder->calls.pickled_comms.find(comm);
    if (pickled != nullptr && pickled->reduction.ends_with(is_sent, other, tag)) {
      thread_->gathering.at(pickled->process);
    }
  }

  // -- completions (wrappers/completions.hpp)

  void started(MPI_Request request) {
    const SharedStateLock lock;
    PendingRequest* pending = recorder->calls.requests.find(request);
    if (pending == nullptr || !pending->persistent) return;
    pending->active = true;
    if (pending->ends_segment) thread_->gathering.forget();
    if (pending->operation != PendingRequest::Operation::partitioned_send) thread_->add(pending->counted, 1);
    if (pending->operation == PendingRequest::Operation::send) move(Feature::bytes_sent, pending->bytes);
    if (pending->operation == PendingRequest::Operation::collective) {
      move(Feature::bytes_collective, pending->bytes);
    }
  }
  /// MPI has completed the request that was under this handle when `made` requests had been made. True if it ends a
  /// segment: ends_segment_of() must follow.
  bool completed(MPI_Request request, std::uint64_t made, const MPI_Status& status) noexcept {
    bool is_receive = false;
    bool ends_segment = false;
    {
      const SharedStateLock lock;
      PendingRequest* const pending = recorder->calls.requests.pending(request, made);
      if (pending == nullptr) return false;
      is_receive = pending->operation == PendingRequest::Operation::receive;
      ends_segment = pending->ends_segment;
      pending->is_complete = ends_segment;
      if (!ends_segment) recorder->calls.requests.complete(request, pending);
    }
    if (is_receive && !was_cancelled(status)) move(Feature::bytes_received, bytes_of(status));
    return ends_segment;
  }
  /// Ends the segment if this request has completed and ends one.
  bool ends_segment_of(MPI_Request request, std::uint64_t made) noexcept {
    PendingRequest over;
    {
      const SharedStateLock lock;
      PendingRequest* const pending = recorder->calls.requests.pending(request, made);
      if (pending == nullptr || !pending->is_complete) return false;
      pending->is_complete = false;
      over = *pending;
      recorder->calls.requests.complete(request, pending);
    }
    end_segment(over.boundary, over.site);
    return true;
  }
  void end_segment(Boundary operation, const void* site) noexcept {
    compare_with_usual();
    const Ticks wait = exit_ - entry_;
    Ticks& counted = time_of(kind_of(class_));  // this time counts only as the wait
    counted = counted - wait;
    if (thread_->fortran_site != nullptr) site = thread_->fortran_site;
    recorder->close_segment(*thread_, operation, site, exit_, wait);
    if (recorder->live.is_asked_to_stop()) recorder->stand_still(*thread_);
    const Ticks now = recorder->meters.clock.now();
    if (thread_->steps != nullptr) thread_->steps->waited(wait);
    thread_->cpu.skip(now - thread_->last_exit);  // recording time is not computation
    thread_->last_exit = now;
    entry_ = exit_;  // a second boundary of the same call has no wait
  }

 protected:
  /// To be called in place of ended(): the time since the call began belongs to the computation that goes on.
  void leave_out() { is_compared_ = true; }

  void note(Feature operations, std::uint64_t number) { thread_->add(operations, number); }
  void move(Feature volume, std::uint64_t amount) {
    moved_ += amount;
    thread_->add(volume, amount);
  }
  /// A device gets so much to do.
  void give(Feature volume, std::uint64_t amount) {
    move(volume, amount);
    thread_->given_to_devices += amount;
  }
  /// What it got has been waited for: the time is compared with that of other waits for about as much.
  void wait_for_given() {
    moved_ = thread_->given_to_devices;
    thread_->given_to_devices = 0;
  }

 private:
  bool synchronizes(MPI_Comm comm) {
    if (!recorder->boundaries.counts(comm, recorder->run)) return false;
    note_comm(comm);
    thread_->gathering.forget();
    recorder->boundaries.note_synchronization();
    return recorder->boundaries.uses(BoundaryChoice::all_to_all);
  }
  bool ends_pair(MPI_Comm comm, int root) {
    if (!recorder->calls.pickled_comms.empty()) note_pickled_alone(comm);
    if (!thread_->gathering.is_known() || !recorder->boundaries.counts(comm, recorder->run)) return false;
    note_comm(comm);
    const bool is_pair = thread_->gathering.ends_from(recorder->run.process_of(root, comm));
    if (is_pair) recorder->boundaries.note_synchronization();
    return is_pair;
  }
  void note_comm(MPI_Comm comm) {
    thread_->boundary_comm = 0;
    std::memcpy(&thread_->boundary_comm, &comm, sizeof comm);
  }
  void note_pickled_alone(MPI_Comm comm) {
    const SharedStateLock lock;
    PickledComms::One* const pickled = recorder->calls.pickled_comms.find(comm);
    if (pickled == nullptr || !pickled->is_alone) return;
    pickled->length_is_known = !pickled->length_is_known;
    if (pickled->length_is_known) thread_->gathering.at(pickled->process);
  }
  void ends_segment_when_complete(MPI_Request request, Boundary operation) {
    const void* site = thread_->fortran_site != nullptr ? thread_->fortran_site : place();
    if (is_shared(request) && class_ != CallClass::local) {
      end_segment(operation, site);  // already complete, with the handle that all such requests share
      return;
    }
    const SharedStateLock lock;
    if (PendingRequest* known = class_ == CallClass::local ? recorder->calls.requests.find(request) : nullptr) {
      known->ends_segment = true;
      known->boundary = operation;
      known->site = site;
      return;
    }
    insert(request, {.site = site,
                     .operation = PendingRequest::Operation::boundary_only,
                     .boundary = operation,
                     .ends_segment = true});
  }
  /// The call site; if mpi4py made the call, the line of the Python program.
  const void* place() { return recorder->python.place_of(site_); }

  static TimeKind kind_of(CallClass call_class) {
    switch (call_class) {
      case CallClass::collective:
      case CallClass::management: return TimeKind::collective;
      case CallClass::mpiio:
      case CallClass::posixio: return TimeKind::file_io;
      case CallClass::device: return TimeKind::device;
      default: return TimeKind::point_to_point;
    }
  }
  Ticks& time_of(TimeKind kind) { return thread_->times[static_cast<std::size_t>(kind)]; }

  /// Done once per call, when all bytes that it moved are known.
  [[gnu::always_inline]] void compare_with_usual() {
    if (is_compared_ || class_ == CallClass::local || class_ == CallClass::poll) return;
    is_compared_ = true;
    if (thread_->usual_times == nullptr) return;
    thread_->beyond_usual +=
        thread_->usual_times->beyond(site_, moved_, exit_ - entry_, recorder->meters.noticeable_delay);
  }
  /// The call may end a step, where no boundaries end segments. Polls do not: their number depends on noise.
  [[gnu::always_inline]] void note_recurring() {
    if (class_ == CallClass::local || class_ == CallClass::poll || class_ == CallClass::posixio ||
        class_ == CallClass::device || thread_->steps == nullptr) {
      return;
    }
    const void* const site = thread_->fortran_site != nullptr ? thread_->fortran_site : site_;
    if (thread_->steps->met(site)) recorder->look_for_step(*thread_, site, entry_, exit_);
  }
  void remember(MPI_Request request, const PendingRequest& pending) {
    const SharedStateLock lock;
    insert(request, pending);
  }
  /// Called with the lock.
  static void insert(MPI_Request request, const PendingRequest& pending) {
    if (!recorder->calls.requests.insert(request, pending)) tell_memory_has_run_out();
  }
  void note_file(Feature operations, Feature volume, std::uint64_t amount) {
    note(operations, 1);
    move(volume, amount);
  }

  const void* site_;
  CallClass class_;
  ThreadState* thread_ = nullptr;
  Ticks entry_;
  Ticks exit_;
  std::uint64_t moved_ = 0;         // bytes
  std::uint64_t events_began_ = 0;  // for the counter, a poll that is timed
  bool is_compared_ = false;
};

}  // namespace halcyon
