// Wrappers of the functions that complete, start and free requests. A line of mpi.table is not enough for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "libprofile/wrappers/recorded_call.hpp"

namespace halcyon {

/// An array that is on the stack if it is small. Elements on the stack are not initialized.
template <class T>
class Scratch {
 public:
  static constexpr int most_near = 32;

  explicit Scratch(int size) noexcept {
    if (size > most_near) far_.reset(new (std::nothrow) T[static_cast<std::size_t>(size)]);
    data_ = size > most_near ? far_.get() : reinterpret_cast<T*>(near_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Null if memory has run out.
  T* data() noexcept { return data_; }
  T& operator[](int i) noexcept { return data_[i]; }

 private:
  alignas(T) std::byte near_[most_near * sizeof(T)];
  std::unique_ptr<T[]> far_;
  T* data_;
};

/// The requests of one completing call. Their handles are kept from before the call, since MPI resets those of
/// completed requests; what is pending under them is looked up only once MPI has completed something.
class Completion {
 public:
  [[gnu::always_inline]] Completion(int count, const MPI_Request* requests) noexcept
      : made_(recorder->calls.requests.made()),
        before_(count),
        count_(before_.data() != nullptr && requests != nullptr ? count : 0) {
    for (int i = 0; i < count_; ++i) before_[i] = requests[i];
    if (__builtin_expect(before_.data() == nullptr, 0)) tell_memory_has_run_out();
  }
  /// The same of a poll that kept the handles: at most Scratch's `most_near`.
  Completion(int count, const MPI_Request* before, std::uint64_t made) noexcept
      : made_(made), before_(count), count_(count) {
    for (int i = 0; i < count; ++i) before_[i] = before[i];
  }

  /// Request `index` has completed. Boundaries are handled in finish(), so that the segments they end have all volumes.
  void completed(RecordedCall& call, int index, const MPI_Status& status) noexcept {
    if (index < count_ && call.completed(before_[index], made_, status)) ++boundaries_;
  }
  void finish(RecordedCall& call, int result, const MPI_Request* requests) noexcept {
    if (result != MPI_SUCCESS) forget_reset(requests);
    for (int i = 0; boundaries_ > 0 && i < count_; ++i) {
      if (call.ends_segment_of(before_[i], made_)) --boundaries_;
    }
  }
  int count() const noexcept { return count_; }

  /// Where MPI has reset the handle of a request that has failed, or whose completion is not recorded, the request is
  /// over: MPI may soon give that handle to another one.
  void forget_reset(const MPI_Request* requests) noexcept {
    const SharedStateLock lock;
    RequestTable& table = recorder->calls.requests;
    for (int i = 0; i < count_; ++i) {
      if (requests[i] == before_[i]) continue;
      if (PendingRequest* const over = table.pending(before_[i], made_); over != nullptr) {
        table.complete(before_[i], over);
      }
    }
  }

 private:
  std::uint64_t made_;
  Scratch<MPI_Request> before_;
  int count_;           // 0 if memory has run out, or the program gives no array: then nothing is noted
  int boundaries_ = 0;  // complete, but not yet handled
};

/// The statuses that MPI fills: the program's, or our own if it ignores them.
class Statuses {
 public:
  Statuses(int count, MPI_Status* of_program) noexcept
      : own_(of_program == MPI_STATUSES_IGNORE ? count : 0), filled_(of_program) {
    if (of_program == MPI_STATUSES_IGNORE && own_.data() != nullptr) filled_ = own_.data();
  }
  MPI_Status* data() noexcept { return filled_; }
  /// If memory has run out, an empty status: the bytes are then unknown.
  const MPI_Status& operator[](int i) const noexcept {
    static const MPI_Status empty{};
    return filled_ != MPI_STATUSES_IGNORE ? filled_[i] : empty;
  }

 private:
  Scratch<MPI_Status> own_;
  MPI_Status* filled_;
};

/// A call that completes requests if they are ready, and is not timed: most such calls find nothing, between any two
/// steps of a program's work. It does only what these need, and is a RecordedCall once it has found something.
class UntimedPoll {
 public:
  [[gnu::always_inline]] UntimedPoll(Caller caller, int count, const MPI_Request* requests) noexcept {
    ThreadState* const thread = this_thread;
    if (__builtin_expect(!recording.load(std::memory_order_acquire) || thread == nullptr || requests == nullptr, 0) ||
        static_cast<unsigned>(count) > most || thread->polling.is_timed() || thread->outermost.is_begun()) {
      return;
    }
    made_ = recorder->calls.requests.made();
    for (int i = 0; i < count; ++i) before_[i] = requests[i];
    thread->outermost.begin(caller);
    thread_ = thread;
  }
  [[gnu::always_inline]] ~UntimedPoll() {
    if (thread_ != nullptr) thread_->outermost.end();
  }
  UntimedPoll(const UntimedPoll&) = delete;
  UntimedPoll& operator=(const UntimedPoll&) = delete;

  /// False: it is none of these, and nothing has begun.
  explicit operator bool() const noexcept { return thread_ != nullptr; }
  void found_nothing() noexcept { thread_->polling.found_nothing(); }

  RecordedCall recorded(Caller caller) const noexcept { return {*thread_, caller.site}; }
  Completion completion(int count) const noexcept { return {count, before_, made_}; }

 private:
  static constexpr unsigned most = Scratch<MPI_Request>::most_near;

  ThreadState* thread_ = nullptr;
  std::uint64_t made_;
  MPI_Request before_[most];
};

/// With nothing pending, a completion is only timed.
inline bool nothing_pending() { return recorder->calls.requests.empty(); }

/// A completion inside another call, as in the callback of a generalized request: it is not recorded.
template <class Call>
[[gnu::noinline]] int complete_unrecorded(int count, const MPI_Request* requests, Call call) {
  if (!recording.load(std::memory_order_acquire) || nothing_pending()) return call();
  Completion completion(count, requests);
  const int result = call();
  completion.forget_reset(requests);
  return result;
}

}  // namespace halcyon

// The generated wrappers call these: one for each of these `special` lines of mpi.table.
namespace {

using namespace halcyon;  // NOLINT(google-build-using-namespace): the wrappers' own file

[[gnu::always_inline]] inline int wrap_MPI_Wait(int (*next)(MPI_Request*, MPI_Status*), Caller caller,
                                                MPI_Request* request, MPI_Status* status) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return complete_unrecorded(1, request, [&] { return next(request, status); });
  if (nothing_pending()) {
    const int result = next(request, status);
    call.ended();
    return result;
  }
  Completion completion(1, request);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = next(request, status);
  call.ended();
  if (result == MPI_SUCCESS) completion.completed(call, 0, *status);
  completion.finish(call, result, request);
  return result;
}

// After an error in a status, the requests without an error have still completed (MPI 3.1, 3.7.5).
bool has_completed(int result, const MPI_Status& status) {
  return result == MPI_SUCCESS || (result == MPI_ERR_IN_STATUS && status.MPI_ERROR == MPI_SUCCESS);
}

// The pointers of a call that failed may be null: MPI has refused them.
bool has_found_nothing(int result, const int* found) { return result == MPI_SUCCESS && *found == 0; }

// What follows a completion is not inlined, so that a poll that finds nothing does not pay for its registers.
[[gnu::noinline]] void note_one(RecordedCall& call, Completion& completion, int result, const MPI_Request* requests,
                                const int* index, const MPI_Status& status) {
  call.ended();
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) completion.completed(call, *index, status);
  completion.finish(call, result, requests);
}

[[gnu::noinline]] void note_all(RecordedCall& call, Completion& completion, int result, const MPI_Request* requests,
                                const Statuses& statuses) {
  call.ended();
  for (int i = 0; i < completion.count(); ++i) {
    if (has_completed(result, statuses[i])) completion.completed(call, i, statuses[i]);
  }
  completion.finish(call, result, requests);
}

[[gnu::noinline]] void note_some(RecordedCall& call, Completion& completion, int result, const MPI_Request* requests,
                                 const int* done, const int* indices, const Statuses& statuses) {
  call.ended();
  const bool may_have_completed = (result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS) && *done != MPI_UNDEFINED;
  for (int i = 0; may_have_completed && i < *done; ++i) {
    if (has_completed(result, statuses[i])) completion.completed(call, indices[i], statuses[i]);
  }
  completion.finish(call, result, requests);
}

// `next()` makes the call, `found` is what it says of completed requests, and `note(call, completion, result)` follows
// if there are any.
template <class Next, class Note>
[[gnu::noinline]] int poll_with_clock(const Caller& caller, int count, const MPI_Request* requests, const int* found,
                                      const Next& next, const Note& note) {
  RecordedCall call(CallClass::poll, caller);
  if (!call.records()) return complete_unrecorded(count, requests, next);
  Completion completion(count, requests);
  const int result = next();
  if (has_found_nothing(result, found)) {
    call.found_nothing();
  } else {
    note(call, completion, result);
  }
  return result;
}
template <class Note>
[[gnu::noinline]] void note_found(const UntimedPoll& poll, const Caller& caller, int count, int result,
                                  const Note& note) {
  RecordedCall call = poll.recorded(caller);
  Completion completion = poll.completion(count);
  note(call, completion, result);
}
template <class Next, class Note>
[[gnu::always_inline]] inline int poll(Caller caller, int count, const MPI_Request* requests, const int* found,
                                       Next next, Note note) {
  UntimedPoll untimed(caller, count, requests);
  // Copies, so that only they are in memory, and not what other polls have in registers.
  if (!untimed) return poll_with_clock(Caller(caller), count, requests, found, Next(next), Note(note));
  const int result = next();
  if (__builtin_expect(has_found_nothing(result, found), 1)) {
    untimed.found_nothing();
  } else {
    note_found(untimed, Caller(caller), count, result, Note(note));
  }
  return result;
}

template <class Test>
[[gnu::always_inline]] inline int wrap_MPI_Test(Test next, Caller caller, MPI_Request* request, int* flag,
                                                MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  return poll(
      caller, 1, request, flag, [=] { return next(request, flag, status); },
      [=](RecordedCall& call, Completion& completion, int result) {
        const int only = 0;
        note_one(call, completion, result, request, &only, *status);
      });
}

// The program may free the request next, or complete it, of which nothing is then left to note.
template <class GetStatus, class Request>
int wrap_MPI_Request_get_status(GetStatus next, Caller caller, Request request, int* flag, MPI_Status* status) {
  MPI_Request handle = request;
  const auto test = [&](MPI_Request*, int* is_complete, MPI_Status* filled) {
    return next(request, is_complete, filled);
  };
  return wrap_MPI_Test(test, caller, &handle, flag, status);
}

int wrap_MPI_Waitall(int (*next)(int, MPI_Request*, MPI_Status*), Caller caller, int count, MPI_Request* requests,
                     MPI_Status* statuses) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return complete_unrecorded(count, requests, [&] { return next(count, requests, statuses); });
  if (nothing_pending()) {
    const int result = next(count, requests, statuses);
    call.ended();
    return result;
  }
  Completion completion(count, requests);
  Statuses filled(count, statuses);
  const int result = next(count, requests, filled.data());
  note_all(call, completion, result, requests, filled);
  return result;
}

[[gnu::always_inline]] inline int wrap_MPI_Testall(int (*next)(int, MPI_Request*, int*, MPI_Status*), Caller caller,
                                                   int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Statuses filled(count, statuses);
  MPI_Status* const data = filled.data();
  return poll(
      caller, count, requests, flag, [=] { return next(count, requests, flag, data); },
      [=, &filled](RecordedCall& call, Completion& completion, int result) {
        note_all(call, completion, result, requests, filled);
      });
}

int wrap_MPI_Waitany(int (*next)(int, MPI_Request*, int*, MPI_Status*), Caller caller, int count, MPI_Request* requests,
                     int* index, MPI_Status* status) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records())
    return complete_unrecorded(count, requests, [&] { return next(count, requests, index, status); });
  Completion completion(count, requests);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = next(count, requests, index, status);
  note_one(call, completion, result, requests, index, *status);
  return result;
}

[[gnu::always_inline]] inline int wrap_MPI_Testany(int (*next)(int, MPI_Request*, int*, int*, MPI_Status*),
                                                   Caller caller, int count, MPI_Request* requests, int* index,
                                                   int* flag, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  return poll(
      caller, count, requests, flag, [=] { return next(count, requests, index, flag, status); },
      [=](RecordedCall& call, Completion& completion, int result) {
        note_one(call, completion, result, requests, index, *status);
      });
}

int wrap_MPI_Waitsome(int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), Caller caller, int count,
                      MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records())
    return complete_unrecorded(count, requests, [&] { return next(count, requests, done, indices, statuses); });
  Completion completion(count, requests);
  Statuses filled(count, statuses);
  const int result = next(count, requests, done, indices, filled.data());
  note_some(call, completion, result, requests, done, indices, filled);
  return result;
}

[[gnu::always_inline]] inline int wrap_MPI_Testsome(int (*next)(int, MPI_Request*, int*, int*, MPI_Status*),
                                                    Caller caller, int count, MPI_Request* requests, int* done,
                                                    int* indices, MPI_Status* statuses) {
  Statuses filled(count, statuses);
  MPI_Status* const data = filled.data();
  return poll(
      caller, count, requests, done, [=] { return next(count, requests, done, indices, data); },
      [=, &filled](RecordedCall& call, Completion& completion, int result) {
        note_some(call, completion, result, requests, done, indices, filled);
      });
}

int wrap_MPI_Start(int (*next)(MPI_Request*), Caller caller, MPI_Request* request) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return next(request);
  const int result = next(request);
  call.ended();
  if (result == MPI_SUCCESS) call.started(*request);
  return result;
}

int wrap_MPI_Startall(int (*next)(int, MPI_Request*), Caller caller, int count, MPI_Request* requests) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return next(count, requests);
  const int result = next(count, requests);
  call.ended();
  for (int i = 0; result == MPI_SUCCESS && i < count; ++i) call.started(requests[i]);
  return result;
}

int wrap_MPI_Request_free(int (*next)(MPI_Request*), Caller caller, MPI_Request* request) {
  RecordedCall call(CallClass::local, caller);
  if (!call.records() || request == nullptr) return next(request);
  {
    const SharedStateLock lock;
    recorder->calls.requests.erase(*request);
  }
  return next(request);
}

}  // namespace
