#include "libprofile/record/threads.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace halcyon {

constinit thread_local ThreadState* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

Threads::Threads() : sees_threads_end_(pthread_key_create(&thread_end_, release) == 0) {}

ThreadState& Threads::enter(Ticks now) {
  lock_.lock();
  ThreadState* state = free_;
  if (state != nullptr) {
    free_ = state->next_free;
  } else {
    state = new ThreadState;
    state->registry = this;
    threads_.push_back(state);
  }
  lock_.unlock();
  const auto id = static_cast<int>(syscall(SYS_gettid));
  state->outermost = {};
  state->is_application = std::find(mpi_threads_.begin(), mpi_threads_.end(), id) == mpi_threads_.end();
  state->last_exit = now;
  state->cpu.restart(thread_cpu_time());
  this_thread = state;
  if (sees_threads_end_) pthread_setspecific(thread_end_, state);
  return *state;
}

void Threads::release(void* argument) {
  auto* state = static_cast<ThreadState*>(argument);
  Threads& threads = *state->registry;
  this_thread = nullptr;
  threads.lock_.lock();
  state->next_free = threads.free_;
  threads.free_ = state;
  threads.lock_.unlock();
}

}  // namespace halcyon
