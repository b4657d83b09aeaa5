// Finding the function that a wrapper stands in front of: the next symbol of its own name in the process.
#pragma once

#include <cstdint>

#define HALCYON_EXPORT __attribute__((visibility("default")))

namespace halcyon {

/// A handle that is an int in this build's MPI family, handed on as the whole register it came in: in a process with
/// the other family, which is stood aside from, that is a pointer.
template <class Handle>
struct Whole {
  std::uint64_t bits;
  operator Handle() const { return static_cast<Handle>(bits); }
};

/// The file name at the end of a path.
const char* base_name(const char* path) noexcept;

/// The next definition of `name` after this library in load order, so that preloaded tools stack. Where the MPI library
/// was opened with RTLD_LOCAL (mpi4py, Julia) it is looked up in that library itself. Never null: a function that no
/// library has is answered by one that returns an error.
void* find_next(const char* name) noexcept;

/// The symbol as the MPI library itself defines it, past every interposed tool. Null if there is none.
/// `data` symbols are looked up from the program first, which may hold a copy-relocated instance.
void* find_in_mpi(const char* name) noexcept;
void* find_mpi_data(const char* name) noexcept;

}  // namespace halcyon
