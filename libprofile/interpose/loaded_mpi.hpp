// The MPI libraries in this process, recognised by their names and symbols.
#pragma once

#include <string>
#include <vector>

namespace halcyon {

/// Libraries with the same interface take the same handles and statuses from a program.
enum class MpiInterface { open_mpi, mpich, standard };

struct LoadedMpi {
  std::string path;
  void* handle = nullptr;  // as dlopen gives it
  MpiInterface interface = MpiInterface::open_mpi;
};

/// In load order. Never loads a library.
std::vector<LoadedMpi> loaded_mpi_libraries();

/// For messages.
const char* name_of(MpiInterface interface) noexcept;

}  // namespace halcyon
