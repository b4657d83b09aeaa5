// The MPI library as libhalcyon and libintm call it. Its functions are found at run time, so that the preloaded
// libraries can be loaded into a program without MPI, such as `ls`. The calls bypass every interposed tool, so that the
// tools never record or delay their own calls. Differences between MPI families are handled here.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

#include "libprofile/interpose/mpi_names.hpp"

#ifndef MPI_SESSION_NULL
using MPI_Session = struct ompi_session_t*;  // Open MPI 4 has none; later versions use the same libraries
#endif

namespace halcyon {

struct MpiRuntime {
#define HALCYON_MPI_FUNCTIONS(X) \
  X(Allreduce)                   \
  X(Alltoall)                    \
  X(Bcast)                       \
  X(Cart_shift)                  \
  X(Comm_dup)                    \
  X(Comm_free)                   \
  X(Comm_get_parent)             \
  X(Comm_group)                  \
  X(Comm_rank)                   \
  X(Comm_remote_size)            \
  X(Comm_set_errhandler)         \
  X(Comm_size)                   \
  X(Comm_test_inter)             \
  X(Cartdim_get)                 \
  X(Dist_graph_neighbors_count)  \
  X(Gather)                      \
  X(Get_library_version)         \
  X(Get_processor_name)          \
  X(Graph_neighbors_count)       \
  X(Group_free)                  \
  X(Group_intersection)          \
  X(Group_size) X(Group_translate_ranks) X(Query_thread) X(Recv) X(Send) X(Topo_test) X(Type_size_x)
#ifdef HALCYON_STANDARD_ABI  // it hides things that the others show in a status or in the bits of a handle
#define HALCYON_MPI_FUNCTIONS_OF_INTERFACE(X) \
  X(Abi_get_version) X(Get_count_c) X(Ibarrier) X(Initialized) X(Irecv) X(Test_cancelled) X(Wait)
#elif defined(OPEN_MPI)
#define HALCYON_MPI_FUNCTIONS_OF_INTERFACE(X) X(Info_create) X(Info_dup) X(Info_free) X(Info_get) X(Info_set)
#else
#define HALCYON_MPI_FUNCTIONS_OF_INTERFACE(X)
#endif
#define HALCYON_MPI_POINTER(name) decltype(&PMPI_##name) name = nullptr;
  HALCYON_MPI_FUNCTIONS(HALCYON_MPI_POINTER)
  HALCYON_MPI_FUNCTIONS_OF_INTERFACE(HALCYON_MPI_POINTER)
#undef HALCYON_MPI_POINTER

  MPI_Comm comm_world{};
  MPI_Comm comm_null{};
  MPI_Datatype byte{};
  MPI_Datatype uint64{};
  MPI_Op min{};
  MPI_Errhandler errors_return{};
#ifndef MPICH_VERSION
  std::array<MPI_Request, 2> shared_requests{};
#endif
#ifdef OPEN_MPI
  MPI_Info info_null{};
#endif

  /// Finds the library in the process, after MPI_Init. Empty if `tool` (libhalcyon or libintm) can use it; else why
  /// not.
  std::string load(const std::string& tool);

  /// Finds out for which handles is_shared() is true, if the interface does not say. `comm` must be valid; `alone`: it
  /// has one process.
  void learn_shared_requests(MPI_Comm comm, bool alone);

 private:
  std::string load_functions(const std::string& library);
  std::string load_handles(const std::string& library);
};

/// The one instance; usable after load().
extern MpiRuntime mpi;

/// Whether this build knows the handles of that family.
bool is_of_own_interface(MpiFamily family) noexcept;

/// Why this build of `tool` has nothing to do with the MPI libraries of this process; empty if they fit, or there are
/// none.
std::string other_mpi_than_own(const std::string& tool);

/// What to say where the library belongs to a newer family than the one that this build of `tool` is for: the calls of
/// its newest functions pass unseen. Empty otherwise.
std::string newer_mpi_than_known(const std::string& tool);

/// Bytes that a completed receive or file operation moved.
inline std::uint64_t bytes_of(const MPI_Status& status) {
#if defined(OPEN_MPI)
  return status._ucount;
#elif defined(HALCYON_STANDARD_ABI)
  MPI_Count count = 0;
  const bool is_known = mpi.Get_count_c(&status, mpi.byte, &count) == MPI_SUCCESS && count > 0;
  return is_known ? static_cast<std::uint64_t>(count) : 0;
#else
  return static_cast<std::uint64_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1) << 32 |
         static_cast<unsigned>(status.count_lo);
#endif
}

/// MPICH 4.0 says that an Isendrecv received nothing, and MPICH 5.0 does not set that part of the status.
#ifdef OPEN_MPI
inline constexpr bool knows_bytes_of_isendrecv = true;
#else
inline constexpr bool knows_bytes_of_isendrecv = false;
#endif

/// Valid for the status of a request; the status of a file operation does not say. The byte count of a cancelled
/// receive is undefined.
inline bool was_cancelled(const MPI_Status& status) {
#if defined(OPEN_MPI)
  return status._cancelled != 0;
#elif defined(HALCYON_STANDARD_ABI)
  int flag = 0;
  return mpi.Test_cancelled(&status, &flag) == MPI_SUCCESS && flag != 0;
#else
  return (status.count_hi_and_cancelled & 1) != 0;
#endif
}

/// True for a handle that MPI gives to several requests at once, which are already complete when they are created.
inline bool is_shared(MPI_Request request) {
#ifndef MPICH_VERSION
  return request == mpi.shared_requests[0] || request == mpi.shared_requests[1];
#else
  // The upper bits of an MPICH handle say where the object is stored. Every built-in request is shared.
  constexpr unsigned kind_shift = 30;
  constexpr unsigned built_in = 1;
  return static_cast<unsigned>(request) >> kind_shift == built_in;
#endif
}

}  // namespace halcyon
