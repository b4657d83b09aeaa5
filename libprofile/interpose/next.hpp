// Finding the function that a wrapper stands in front of: the next symbol of its own name in the process.
#pragma once

#define HALCYON_EXPORT __attribute__((visibility("default")))

namespace halcyon {

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
