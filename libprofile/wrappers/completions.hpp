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
  static constexpr int most_near = 32;

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

template <class Test>
[[gnu::always_inline]] inline int wrap_MPI_Test(Test next, Caller caller, MPI_Request* request, int* flag,
                                                MPI_Status* status) {
  RecordedCall call(CallClass::poll, caller);
  if (!call.records()) return complete_unrecorded(1, request, [&] { return next(request, flag, status); });
  Completion completion(1, request);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = next(request, flag, status);
  if (has_found_nothing(result, flag)) {
    call.found_nothing();
  } else {
    const int only = 0;
    note_one(call, completion, result, request, &only, *status);
  }
  return result;
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
  RecordedCall call(CallClass::poll, caller);
  if (!call.records())
    return complete_unrecorded(count, requests, [&] { return next(count, requests, flag, statuses); });
  Completion completion(count, requests);
  Statuses filled(count, statuses);
  const int result = next(count, requests, flag, filled.data());
  if (has_found_nothing(result, flag)) {
    call.found_nothing();
  } else {
    note_all(call, completion, result, requests, filled);
  }
  return result;
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
  RecordedCall call(CallClass::poll, caller);
  if (!call.records())
    return complete_unrecorded(count, requests, [&] { return next(count, requests, index, flag, status); });
  Completion completion(count, requests);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = next(count, requests, index, flag, status);
  if (has_found_nothing(result, flag)) {
    call.found_nothing();
  } else {
    note_one(call, completion, result, requests, index, *status);
  }
  return result;
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
  RecordedCall call(CallClass::poll, caller);
  if (!call.records())
    return complete_unrecorded(count, requests, [&] { return next(count, requests, done, indices, statuses); });
  Completion completion(count, requests);
  Statuses filled(count, statuses);
  const int result = next(count, requests, done, indices, filled.data());
  if (has_found_nothing(result, done)) {
    call.found_nothing();
  } else {
    note_some(call, completion, result, requests, done, indices, filled);
  }
  return result;
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
