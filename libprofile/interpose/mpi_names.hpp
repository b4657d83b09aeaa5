// The names of MPI libraries: the preloaded libraries look for them in their process, the command on disk.
#pragma once

#include <string_view>

namespace halcyon {

/// True for the file name of an MPI library of any family. MPICH names its library as Open MPI does, but Debian renamed
/// it.
constexpr bool is_mpi_library(std::string_view name) {
  return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || name.starts_with("libmpi_abi.so");
}
/// True for a library with the standard ABI of MPI 5.0.
constexpr bool has_standard_abi(std::string_view name) { return name.starts_with("libmpi_abi.so"); }

/// A symbol that every Open MPI has, and no other library.
inline constexpr char symbol_of_open_mpi[] = "ompi_mpi_comm_world";

}  // namespace halcyon
