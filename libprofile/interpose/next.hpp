// Finding the function that a wrapper stands in front of: the next symbol of its own name in the process.
#pragma once

#include <atomic>
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

/// find_next(name), asked for once and then `known`. Where several threads are the first, all find the same; as it is
/// an address of code and nothing of what it points to was written by them, no order is needed.
inline void* next_once(std::atomic<void*>& known, const char* name) noexcept {
  void* next = known.load(std::memory_order_relaxed);
  if (__builtin_expect(next == nullptr, 0)) {
    next = find_next(name);
    known.store(next, std::memory_order_relaxed);
  }
  return next;
}

/// The symbol as the MPI library itself defines it, past every interposed tool. Null if there is none.
/// `data` symbols are looked up from the program first, which may hold a copy-relocated instance.
void* find_in_mpi(const char* name) noexcept;
void* find_mpi_data(const char* name) noexcept;

}  // namespace halcyon
