// The MPI libraries in this process, recognised by their names and symbols.
#pragma once

#include <string>
#include <vector>

#include "libprofile/interpose/mpi_names.hpp"

namespace halcyon {

struct LoadedMpi {
  std::string path;
  MpiFamily family = MpiFamily::open_mpi;
};

/// `handle`: of a library that is open, `path`: its own.
MpiFamily family_of_loaded(void* handle, const char* path) noexcept;

/// In load order. Never loads a library.
std::vector<LoadedMpi> loaded_mpi_libraries();

}  // namespace halcyon
