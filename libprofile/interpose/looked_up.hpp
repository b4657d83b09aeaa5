// Functions of MPI that a program looks up by dlsym in a library that it has opened: dlopen in C, ctypes, cffi, Julia.
//
// Our dlsym gives it the wrapper of this library. Only a lookup by a handle is answered, and only where it has found a
// function of the MPI library: all others go on to the next dlsym by a jump, which sees them as they were made. So
// RTLD_NEXT and RTLD_DEFAULT mean for every caller what they mean without us.
//
// A function that was looked up reaches MPI past the tools behind this library, as it does without us: a tool may have
// looked it up in order to call it from its own. If such a tool has an MPI_X, its lookup finds our PMPI_X; else our
// MPI_X, so that what is linked and what is looked up are the same function, as before.
#pragma once

namespace halcyon {

/// Whether functions that are looked up reach this library.
bool answers_lookups() noexcept;

}  // namespace halcyon
