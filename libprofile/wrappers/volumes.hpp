// The bytes that a call moves, from its arguments. Arguments that MPI ignores are never read: a rank that is not the
// root may pass a null type.
#pragma once

#include <cstdint>

#include "libprofile/interpose/mpi_runtime.hpp"

namespace halcyon {

inline std::uint64_t bytes(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count <= 0 || mpi.Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}
inline int is_inter(MPI_Comm comm) {
  int inter = 0;
  mpi.Comm_test_inter(comm, &inter);
  return inter;
}
/// Number of processes in the rank's own group of a communicator.
inline std::uint64_t members(MPI_Comm comm) {
  int size = 0;
  mpi.Comm_size(comm, &size);
  return static_cast<std::uint64_t>(size);
}
/// Number of processes that a rank exchanges data with in a collective.
inline std::uint64_t peers(MPI_Comm comm) {
  int size = 0;
  is_inter(comm) != 0 ? mpi.Comm_remote_size(comm, &size) : mpi.Comm_size(comm, &size);
  return static_cast<std::uint64_t>(size);
}
inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  mpi.Comm_rank(comm, &rank);
  return rank;
}
/// 1 if this rank sends data as the root, or as MPI_ROOT of an intercommunicator; else 0.
inline std::uint64_t from_root(int root, MPI_Comm comm) {
  if (root == MPI_ROOT) return 1;
  return root >= 0 && is_inter(comm) == 0 && rank_in(comm) == root ? 1 : 0;
}
/// 1 if this rank sends data to the root: every rank except those in the root's group of an intercommunicator.
inline std::uint64_t to_root(int root) { return root >= 0 ? 1 : 0; }

template <class Count>
std::uint64_t sum(const Count* counts, std::uint64_t size) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < size; ++i) total += static_cast<std::uint64_t>(counts[i] > 0 ? counts[i] : 0);
  return total;
}
template <class Count>
std::uint64_t dot(const Count* counts, const MPI_Datatype* types, std::uint64_t size) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < size; ++i) total += bytes(counts[i], types[i]);
  return total;
}
/// Calls `visit(slot)` for every outgoing slot of a neighbourhood collective that has a process. On the edge of a
/// Cartesian grid that is not periodic, slots have none.
template <class Visit>
void for_each_neighbor(MPI_Comm comm, Visit visit) {
  int kind = MPI_UNDEFINED;
  mpi.Topo_test(comm, &kind);
  int degree = 0;
  if (kind == MPI_CART) {
    mpi.Cartdim_get(comm, &degree);
    for (int dimension = 0; dimension < degree; ++dimension) {
      int down = MPI_PROC_NULL, up = MPI_PROC_NULL;
      mpi.Cart_shift(comm, dimension, 1, &down, &up);
      if (down != MPI_PROC_NULL) visit(2 * dimension);
      if (up != MPI_PROC_NULL) visit(2 * dimension + 1);
    }
    return;
  }
  if (kind == MPI_GRAPH) {
    mpi.Graph_neighbors_count(comm, rank_in(comm), &degree);
  } else if (kind == MPI_DIST_GRAPH) {
    int in = 0, weighted = 0;
    mpi.Dist_graph_neighbors_count(comm, &in, &degree, &weighted);
  }
  for (int slot = 0; slot < degree; ++slot) visit(slot);
}
inline std::uint64_t neighbors(MPI_Comm comm) {
  std::uint64_t count = 0;
  for_each_neighbor(comm, [&count](int) { ++count; });
  return count;
}
template <class Count>
std::uint64_t neighbor_bytes(const Count* counts, MPI_Datatype type, MPI_Comm comm) {
  std::uint64_t total = 0;
  for_each_neighbor(comm, [&](int slot) { total += bytes(counts[slot], type); });
  return total;
}
template <class Count>
std::uint64_t neighbor_bytes(const Count* counts, const MPI_Datatype* types, MPI_Comm comm) {
  std::uint64_t total = 0;
  for_each_neighbor(comm, [&](int slot) { total += bytes(counts[slot], types[slot]); });
  return total;
}

inline std::uint64_t scatter_bytes(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return from_root(root, comm) != 0 ? peers(comm) * bytes(count, type) : 0;
}
template <class Count>
std::uint64_t scatterv_bytes(const Count* counts, MPI_Datatype type, int root, MPI_Comm comm) {
  return from_root(root, comm) != 0 ? sum(counts, peers(comm)) * bytes(1, type) : 0;
}
inline std::uint64_t gather_bytes(const void* data, MPI_Count count, MPI_Datatype type, MPI_Count in_place_count,
                                  MPI_Datatype in_place_type, int root, MPI_Comm) {
  if (to_root(root) == 0) return 0;
  return data == MPI_IN_PLACE ? bytes(in_place_count, in_place_type) : bytes(count, type);
}
template <class Count>
std::uint64_t gatherv_bytes(const void* data, MPI_Count count, MPI_Datatype type, const Count* in_place_counts,
                            MPI_Datatype in_place_type, int root, MPI_Comm comm) {
  if (to_root(root) == 0) return 0;
  return data == MPI_IN_PLACE ? bytes(in_place_counts[rank_in(comm)], in_place_type) : bytes(count, type);
}
inline std::uint64_t allgather_bytes(const void* data, MPI_Count count, MPI_Datatype type, MPI_Count in_place_count,
                                     MPI_Datatype in_place_type) {
  return data == MPI_IN_PLACE ? bytes(in_place_count, in_place_type) : bytes(count, type);
}
template <class Count>
std::uint64_t allgatherv_bytes(const void* data, MPI_Count count, MPI_Datatype type, const Count* in_place_counts,
                               MPI_Datatype in_place_type, MPI_Comm comm) {
  return data == MPI_IN_PLACE ? bytes(in_place_counts[rank_in(comm)], in_place_type) : bytes(count, type);
}
inline std::uint64_t alltoall_bytes(const void* data, MPI_Count count, MPI_Datatype type, MPI_Count in_place_count,
                                    MPI_Datatype in_place_type, MPI_Comm comm) {
  return peers(comm) * (data == MPI_IN_PLACE ? bytes(in_place_count, in_place_type) : bytes(count, type));
}
template <class Count>
std::uint64_t alltoallv_bytes(const void* data, const Count* counts, MPI_Datatype type, const Count* in_place_counts,
                              MPI_Datatype in_place_type, MPI_Comm comm) {
  return data == MPI_IN_PLACE ? sum(in_place_counts, peers(comm)) * bytes(1, in_place_type)
                              : sum(counts, peers(comm)) * bytes(1, type);
}
template <class Count>
std::uint64_t alltoallw_bytes(const void* data, const Count* counts, const MPI_Datatype* types,
                              const Count* in_place_counts, const MPI_Datatype* in_place_types, MPI_Comm comm) {
  return data == MPI_IN_PLACE ? dot(in_place_counts, in_place_types, peers(comm)) : dot(counts, types, peers(comm));
}

}  // namespace halcyon
