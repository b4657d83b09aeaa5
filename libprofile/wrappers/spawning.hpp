// Wrappers of the calls that start processes with a world of their own.
#pragma once

#include <type_traits>

#include "libprofile/record/infos_for_children.hpp"
#include "libprofile/wrappers/recorded_call.hpp"

// The generated wrappers call these.
namespace {

using namespace halcyon;  // NOLINT(google-build-using-namespace): the wrappers' own file

// What only the root says, such as the infos, is not looked at in the other ranks.
template <class Info, class Comm>
int wrap_MPI_Comm_spawn(int (*next)(const char*, char*[], int, Info, int, Comm, MPI_Comm*, int[]), Caller caller,
                        const char* command, char* argv[], int maxprocs, Info info, int root, Comm comm,
                        MPI_Comm* intercomm, int error_codes[]) {
  RecordedCall call(CallClass::management, caller);
  if (!call.records()) return next(command, argv, maxprocs, info, root, comm, intercomm, error_codes);
  const MPI_Info given = info;
  const InfosForChildren infos(rank_in(comm) == root ? 1 : 0, &given);
  if constexpr (std::is_pointer_v<Info>) info = *infos.infos();
  const int result = next(command, argv, maxprocs, info, root, comm, intercomm, error_codes);
  call.ended();
  if (result == MPI_SUCCESS) call.spawned(infos);
  return result;
}

template <class Comm>
int wrap_MPI_Comm_spawn_multiple(int (*next)(int, char*[], char**[], const int[], const MPI_Info[], int, Comm,
                                             MPI_Comm*, int[]),
                                 Caller caller, int count, char* commands[], char** argvs[], const int maxprocs[],
                                 const MPI_Info given[], int root, Comm comm, MPI_Comm* intercomm, int error_codes[]) {
  RecordedCall call(CallClass::management, caller);
  if (!call.records()) return next(count, commands, argvs, maxprocs, given, root, comm, intercomm, error_codes);
  const InfosForChildren infos(rank_in(comm) == root ? count : 0, given);
  const int result = next(count, commands, argvs, maxprocs, infos.infos(), root, comm, intercomm, error_codes);
  call.ended();
  if (result == MPI_SUCCESS) call.spawned(infos);
  return result;
}

}  // namespace
