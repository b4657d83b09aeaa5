// The process' memory, as the kernel sees it. All but grow_stack() is async-signal-safe, and sets errno as it likes.
#pragma once

#include <cstdint>

namespace halcyon {

/// Whether the eight bytes at this address can be read.
bool is_readable(const std::uintptr_t* address);

/// Whether both addresses are of one file that is mapped, such as a library. False if the kernel does not say.
bool are_of_one_file(std::uintptr_t first, std::uintptr_t second);

/// Whether processes of the same user may read each other's memory (process_vm_readv), as MPI libraries do for long
/// messages within a host. It ends with setuid(), with a filter of system calls, or with the first thread.
bool may_share_memory();

/// Has the stack of the first thread grow by what the recorder may need later, when the program has limited it, or all
/// its memory. Not async-signal-safe.
void grow_stack();

}  // namespace halcyon
