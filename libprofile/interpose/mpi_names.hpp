// The families of MPI libraries: the preloaded libraries look for them in their process, the command on disk.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace halcyon {

/// MPI libraries with the same handles and the same functions. Each family has its own recorder and injector.
enum class MpiFamily : std::uint8_t { open_mpi, open_mpi_5, mpich, mpich_5, standard_abi };

struct MpiFamilyInfo {
  MpiFamily family;
  std::string_view words;
  std::string_view suffix;  // of the preloaded libraries
};
inline constexpr std::array<MpiFamilyInfo, 5> mpi_families{{
    {MpiFamily::open_mpi, "Open MPI 3 or 4", ""},
    {MpiFamily::open_mpi_5, "Open MPI 5", "-openmpi5"},
    {MpiFamily::mpich, "MPICH 3.1 to 4.1", "-mpich"},
    {MpiFamily::mpich_5, "MPICH 4.2 or newer, or Intel MPI", "-mpich5"},
    {MpiFamily::standard_abi, "the standard ABI", "-abi"},
}};
constexpr const MpiFamilyInfo& info_of(MpiFamily family) { return mpi_families[static_cast<std::size_t>(family)]; }

/// Families with the same interface take the same handles and statuses from a program.
enum class MpiInterface : std::uint8_t { open_mpi, mpich, standard };
constexpr MpiInterface interface_of(MpiFamily family) {
  switch (family) {
    case MpiFamily::open_mpi:
    case MpiFamily::open_mpi_5: return MpiInterface::open_mpi;
    case MpiFamily::mpich:
    case MpiFamily::mpich_5: return MpiInterface::mpich;
    case MpiFamily::standard_abi: break;
  }
  return MpiInterface::standard;
}

/// True for the file name of an MPI library of any family. MPICH names its library as Open MPI does, but Debian renamed
/// it.
constexpr bool is_mpi_library(std::string_view name) {
  return name.starts_with("libmpi.so") || name.starts_with("libmpich.so") || name.starts_with("libmpi_abi.so");
}

/// The number behind ".so." in the name of a library; -1 without one.
inline long number_of_soname(const std::string& path) {
  const std::size_t at = path.rfind(".so.");
  return at != std::string::npos ? std::strtol(path.c_str() + at + 4, nullptr, 10) : -1;
}
/// The number of the libraries whose handles Halcyon knows.
constexpr long known_number(MpiInterface interface) {
  switch (interface) {
    case MpiInterface::open_mpi: return 40;  // since Open MPI 3
    case MpiInterface::mpich: return 12;     // since MPICH 3.1, also of Intel MPI and of MVAPICH
    case MpiInterface::standard: break;
  }
  return 1;
}

/// A symbol that every Open MPI has, and no other library.
inline constexpr char symbol_of_open_mpi[] = "ompi_mpi_comm_world";

/// The family of an MPI library. `name`: of its file. `exports(symbol)`: whether it has the symbol. A family is told
/// from its predecessor by a function that came with it.
template <class Exports>
MpiFamily family_of_mpi(std::string_view name, const Exports& exports) {
  if (name.starts_with("libmpi_abi.so")) return MpiFamily::standard_abi;
  if (exports(symbol_of_open_mpi)) return exports("MPI_Session_init") ? MpiFamily::open_mpi_5 : MpiFamily::open_mpi;
  return exports("MPI_Buffer_flush") ? MpiFamily::mpich_5 : MpiFamily::mpich;
}

}  // namespace halcyon
