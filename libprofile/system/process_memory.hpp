// The process' memory, as the kernel sees it. What says nothing else is async-signal-safe, and sets errno as it likes.
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

/// Bytes on the calling thread's stack below this frame; 0 if it is on another one, as in a fiber or on a signal stack.
/// Not async-signal-safe.
std::size_t room_on_stack();

/// Has the stack of the first thread grow by what the recorder may need later, when the program has limited it, or all
/// its memory. Not async-signal-safe.
void grow_stack();

}  // namespace halcyon
