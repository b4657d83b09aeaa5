// Wrappers of the functions that complete, start and free requests. A line of mpi.table is not enough for them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "libprofile/wrappers/recorded_call.hpp"

namespace halcyon {

/// An array that is on the stack if it is small. Elements on the stack are not initialized.
template <class T>
class Scratch {
 public:
  explicit Scratch(int size) {
    if (size > most_near) far_.resize(static_cast<std::size_t>(size));
  }
  T* data() { return far_.empty() ? reinterpret_cast<T*>(near_) : far_.data(); }
  T& operator[](int i) { return data()[i]; }

 private:
  static constexpr int most_near = 32;

  alignas(T) std::byte near_[most_near * sizeof(T)];
  std::vector<T> far_;
};

/// The requests of one completing call, read before the call: MPI resets the handles of completed requests, and may
/// give them to another thread's requests before the call returns.
class Completion {
 public:
  Completion(int count, const MPI_Request* requests) : count_(count), before_(count), pending_(count) {
    const SharedStateLock lock;
    for (int i = 0; i < count; ++i) {
      before_[i] = requests[i];
      pending_[i] = recorder->calls.requests.pending(requests[i]);
    }
  }

  /// Request `index` has completed. Boundaries are handled in finish(), so that the segments they end have all volumes.
  void completed(RecordedCall& call, int index, const MPI_Status& status) {
    call.completed(before_[index], pending_[index], status);
    if (pending_[index].ends_segment) boundaries_.push_back(pending_[index]);
  }
  void finish(RecordedCall& call, int result, const MPI_Request* requests) {
    if (result != MPI_SUCCESS) forget_failed(requests);
    for (const PendingRequest& request : boundaries_) call.end_segment(request.boundary, request.site);
  }
  int count() const { return count_; }

 private:
  /// If MPI has reset the handle of a failed request, the request is also over: MPI may soon give that handle to
  /// another one.
  void forget_failed(const MPI_Request* requests) {
    const SharedStateLock lock;
    for (int i = 0; i < count_; ++i) {
      if (requests[i] != before_[i]) recorder->calls.requests.complete(before_[i], pending_[i]);
    }
  }

  int count_;
  Scratch<MPI_Request> before_;
  Scratch<PendingRequest> pending_;
  std::vector<PendingRequest> boundaries_;
};

/// With nothing pending, a completion is only timed.
inline bool nothing_pending() { return recorder->calls.requests.empty(); }

}  // namespace halcyon

// The generated wrappers call these: one for each of these `special` lines of mpi.table.
namespace {

using namespace halcyon;  // NOLINT(google-build-using-namespace): the wrappers' own file

[[gnu::always_inline]] inline int wrap_MPI_Wait(int (*next)(MPI_Request*, MPI_Status*), Caller caller,
                                                MPI_Request* request, MPI_Status* status) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return next(request, status);
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

// Not inlined, so that an unsuccessful test does not pay for its stack frame.
[[gnu::noinline]] void note_tested(RecordedCall& call, Completion&& completion, int result, const MPI_Request* request,
                                   const MPI_Status& status) {
  if (result == MPI_SUCCESS) completion.completed(call, 0, status);
  completion.finish(call, result, request);
}
[[gnu::noinline]] int test_among_threads(RecordedCall& call, int (*next)(MPI_Request*, int*, MPI_Status*),
                                         MPI_Request* request, int* flag, MPI_Status* status) {
  Completion completion(1, request);
  const int result = next(request, flag, status);
  call.ended();
  if (result != MPI_SUCCESS || *flag != 0) note_tested(call, std::move(completion), result, request, *status);
  return result;
}

// Most tests are unsuccessful. So the request is looked up before the call only if another thread may get its handle
// meanwhile.
[[gnu::always_inline]] inline int wrap_MPI_Test(int (*next)(MPI_Request*, int*, MPI_Status*), Caller caller,
                                                MPI_Request* request, int* flag, MPI_Status* status) {
  RecordedCall call(CallClass::poll, caller);
  if (!call.records()) return next(request, flag, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  if (recorder->run.several_threads) return test_among_threads(call, next, request, flag, status);
  const MPI_Request before = *request;
  const int result = next(request, flag, status);
  call.ended();
  if (result != MPI_SUCCESS || *flag != 0) note_tested(call, Completion(1, &before), result, request, *status);
  return result;
}

// After an error in a status, the requests without an error have still completed (MPI 3.1, 3.7.5).
void note_all(RecordedCall& call, Completion& completion, int result, const MPI_Request* requests,
              const MPI_Status* statuses) {
  for (int i = 0; i < completion.count(); ++i) {
    if (result == MPI_SUCCESS || (result == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR == MPI_SUCCESS)) {
      completion.completed(call, i, statuses[i]);
    }
  }
  completion.finish(call, result, requests);
}

int wrap_MPI_Waitall(int (*next)(int, MPI_Request*, MPI_Status*), Caller caller, int count, MPI_Request* requests,
                     MPI_Status* statuses) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return next(count, requests, statuses);
  if (nothing_pending()) {
    const int result = next(count, requests, statuses);
    call.ended();
    return result;
  }
  Completion completion(count, requests);
  Scratch<MPI_Status> own(statuses == MPI_STATUSES_IGNORE ? count : 0);
  if (statuses == MPI_STATUSES_IGNORE) statuses = own.data();
  const int result = next(count, requests, statuses);
  call.ended();
  note_all(call, completion, result, requests, statuses);
  return result;
}

int wrap_MPI_Testall(int (*next)(int, MPI_Request*, int*, MPI_Status*), Caller caller, int count, MPI_Request* requests,
                     int* flag, MPI_Status* statuses) {
  RecordedCall call(CallClass::poll, caller);
  if (!call.records()) return next(count, requests, flag, statuses);
  Completion completion(count, requests);
  Scratch<MPI_Status> own(statuses == MPI_STATUSES_IGNORE ? count : 0);
  if (statuses == MPI_STATUSES_IGNORE) statuses = own.data();
  const int result = next(count, requests, flag, statuses);
  call.ended();
  if (result == MPI_ERR_IN_STATUS || *flag != 0) note_all(call, completion, result, requests, statuses);
  return result;
}

int wrap_MPI_Waitany(int (*next)(int, MPI_Request*, int*, MPI_Status*), Caller caller, int count, MPI_Request* requests,
                     int* index, MPI_Status* status) {
  RecordedCall call(CallClass::p2p, caller);
  if (!call.records()) return next(count, requests, index, status);
  Completion completion(count, requests);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = next(count, requests, index, status);
  call.ended();
  if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) completion.completed(call, *index, *status);
  completion.finish(call, result, requests);
  return result;
}

int wrap_MPI_Testany(int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), Caller caller, int count,
                     MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  RecordedCall call(CallClass::poll, caller);
  if (!call.records()) return next(count, requests, index, flag, status);
  Completion completion(count, requests);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = next(count, requests, index, flag, status);
  call.ended();
  if (result == MPI_SUCCESS && *flag != 0 && *index != MPI_UNDEFINED) completion.completed(call, *index, *status);
  completion.finish(call, result, requests);
  return result;
}

int complete_some(CallClass call_class, Caller caller, int (*next)(int, MPI_Request*, int*, int*, MPI_Status*),
                  int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  RecordedCall call(call_class, caller);
  if (!call.records()) return next(count, requests, done, indices, statuses);
  Completion completion(count, requests);
  Scratch<MPI_Status> own(statuses == MPI_STATUSES_IGNORE ? count : 0);
  if (statuses == MPI_STATUSES_IGNORE) statuses = own.data();
  const int result = next(count, requests, done, indices, statuses);
  call.ended();
  if ((result == MPI_SUCCESS || result == MPI_ERR_IN_STATUS) && *done != MPI_UNDEFINED) {
    for (int i = 0; i < *done; ++i) {
      if (result == MPI_SUCCESS || statuses[i].MPI_ERROR == MPI_SUCCESS) {
        completion.completed(call, indices[i], statuses[i]);
      }
    }
  }
  completion.finish(call, result, requests);
  return result;
}

int wrap_MPI_Waitsome(int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), Caller caller, int count,
                      MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return complete_some(CallClass::p2p, caller, next, count, requests, done, indices, statuses);
}

int wrap_MPI_Testsome(int (*next)(int, MPI_Request*, int*, int*, MPI_Status*), Caller caller, int count,
                      MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  return complete_some(CallClass::poll, caller, next, count, requests, done, indices, statuses);
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
  if (!call.records()) return next(request);
  {
    const SharedStateLock lock;
    recorder->calls.requests.erase(*request);
  }
  return next(request);
}

}  // namespace
