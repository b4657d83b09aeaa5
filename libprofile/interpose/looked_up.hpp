// Functions of MPI that a program looks up by dlsym in a library that it has opened: dlopen in C, ctypes, cffi, Julia.
//
// Our dlsym gives it the wrapper of this library. Only a lookup by a handle is answered, and only where it has found a
// function of the MPI library: all others go on to the next dlsym by a jump, which sees them as they were made. So
// RTLD_NEXT and RTLD_DEFAULT mean for every caller what they mean without us.
//
// A function that was looked up reaches MPI past the tools behind this library, as it does without us: a tool may have
// looked it up in order to call it from its own. If there is such a tool, the program gets another entry than the one
// that is exported; else the same, so that addresses of MPI's functions are equal as before.
#pragma once

#include <atomic>

namespace halcyon {

/// Such an entry of a wrapper. generate.py makes a list of these, in the section halcyon_looked_up.
struct LookedUp {
  const char* name;  // MPI_X, also for PMPI_X
  void* entry;
  std::atomic<void*>* next;  // where it goes on; null until the function is looked up
};

/// Whether functions that are looked up reach this library.
bool answers_lookups() noexcept;

}  // namespace halcyon
