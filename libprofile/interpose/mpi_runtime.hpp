// The MPI library as libhalcyon and libintm call it. Its functions are found at run time, so that the preloaded
// libraries can be loaded into a program without MPI, such as `ls`. The calls bypass every interposed tool, so that the
// tools never record or delay their own calls. Differences between MPI families are handled here.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <string>

namespace halcyon {

struct MpiRuntime {
#define HALCYON_MPI_FUNCTIONS(X) \
  X(Allreduce)                   \
  X(Alltoall)                    \
  X(Bcast)                       \
  X(Cart_shift)                  \
  X(Comm_split)                  \
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
#define HALCYON_MPI_POINTER(name) decltype(&PMPI_##name) name = nullptr;
  HALCYON_MPI_FUNCTIONS(HALCYON_MPI_POINTER)
#undef HALCYON_MPI_POINTER

  MPI_Comm comm_world{};
  MPI_Comm comm_null{};
  MPI_Datatype byte{};
  MPI_Datatype uint64{};
  MPI_Op min{};
  MPI_Errhandler errors_return{};
#ifdef OPEN_MPI
  MPI_Request request_empty{};
#endif

  /// Finds the library. False if it cannot be used, or is not of the MPI family that this build was made for.
  bool load() noexcept;
};

/// The one instance; usable after load().
extern MpiRuntime mpi;

/// Tells the user why a tool (libhalcyon or libintm) does nothing; for use if load() is false.
std::string of_another_family(const std::string& tool);

/// Bytes that a completed receive or file operation moved.
inline std::uint64_t bytes_of(const MPI_Status& status) {
#ifdef OPEN_MPI
  return status._ucount;
#else
  return static_cast<std::uint64_t>(static_cast<unsigned>(status.count_hi_and_cancelled) >> 1) << 32 |
         static_cast<unsigned>(status.count_lo);
#endif
}

/// Valid for the status of a request; the status of a file operation does not say. The byte count of a cancelled
/// receive is undefined.
inline bool was_cancelled(const MPI_Status& status) {
#ifdef OPEN_MPI
  return status._cancelled != 0;
#else
  return (status.count_hi_and_cancelled & 1) != 0;
#endif
}

/// True for the one handle that MPI gives to all requests that are already complete when they are created.
inline bool is_shared(MPI_Request request) {
#ifdef OPEN_MPI
  return request == mpi.request_empty;
#else
  // The upper bits of an MPICH handle say where the object is stored. Every built-in request is shared.
  constexpr unsigned kind_shift = 30;
  constexpr unsigned built_in = 1;
  return static_cast<unsigned>(request) >> kind_shift == built_in;
#endif
}

}  // namespace halcyon
