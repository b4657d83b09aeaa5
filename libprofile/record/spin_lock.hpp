// A lock that is held for a few instructions.
#pragma once

#include <sched.h>

#include <atomic>

namespace halcyon {

class SpinLock {
 public:
  void lock() {
    // If threads outnumber cores, the holder may need this thread's core to go on.
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

}  // namespace halcyon
