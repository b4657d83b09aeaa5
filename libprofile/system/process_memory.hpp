// The process' memory, as the kernel sees it. What says nothing else is async-signal-safe, and may set errno as it
// likes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace halcyon {

/// Whether the eight bytes at this address can be read.
bool is_readable(const std::uintptr_t* address);

/// Whether both addresses are of one file that is mapped, such as a library. False if the kernel does not say.
bool are_of_one_file(std::uintptr_t first, std::uintptr_t second);

/// Whether this process may read the memory of another (process_vm_readv), or its own, as MPI libraries do for long
/// messages within a host. This ends with setuid(), capabilities, filters of system calls, or the first thread.
bool may_read_memory_of(pid_t process);

/// Whether a process has this number here.
bool is_there(pid_t process);

/// How many filters of system calls (seccomp) bind this thread; 0 if the kernel does not say. They may end a process
/// for a call.
int system_call_filters();

class StackOfThread {
 public:
  /// Not async-signal-safe. For the first thread of a process, it takes some KiB of stack.
  static StackOfThread of_this_thread();

  /// Bytes below the caller's frame; 0 if this is on another stack, as in a fiber or on a signal stack.
  std::size_t room() const;

  /// Has the calling thread's grow by what the recorder may need later, when the program has limited it, or all its
  /// memory. Those of other threads than the first are there as a whole.
  void grow() const;

 private:
  std::uintptr_t lowest_ = 0;
  std::size_t size_ = 0;
};

}  // namespace halcyon
