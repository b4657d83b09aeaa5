// Calls that reach MPI past the wrappers of this library.
#pragma once

#include <string>

namespace halcyon {

/// The file name of a library, or of the program, whose calls of MPI are bound to MPI itself although a preloaded
/// library stands before it: as in a plugin that was opened with RTLD_DEEPBIND. Empty if there is none. Throws if
/// memory runs out.
std::string module_past_wrappers();

}  // namespace halcyon
