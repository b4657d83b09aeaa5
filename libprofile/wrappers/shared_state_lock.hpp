// A lock for threads that call MPI at the same time.
#pragma once

#include "libprofile/record/recorder.hpp"

namespace halcyon {

/// Held while the request table or the segments are used. Takes the lock only with MPI_THREAD_MULTIPLE.
class SharedStateLock {
 public:
  SharedStateLock() : taken_(recorder->run.several_threads) {
    if (taken_) recorder->calls.lock.lock();
  }
  ~SharedStateLock() {
    if (taken_) recorder->calls.lock.unlock();
  }
  SharedStateLock(const SharedStateLock&) = delete;
  SharedStateLock& operator=(const SharedStateLock&) = delete;

 private:
  bool taken_;
};

}  // namespace halcyon
