// This process, its run, and the run's settings.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <ctime>
#include <string>

#include "libprofile/format/run_facts.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/system/own_descriptor.hpp"
#include "libprofile/shared/counter.hpp"

namespace halcyon {

struct ThisRun {
  Settings settings;
  pid_t process = 0;            // the one that began to record
  bool reads_memory = false;    // the kernel then let it read memory as it would that of others
  int system_call_filters = 0;  // then
  int rank = 0;
  int ranks = 1;
  bool several_threads = false;  // MPI_THREAD_MULTIPLE
  // True if this world was spawned, or has spawned or met others: a communicator's size then does not show which
  // processes are in it.
  std::atomic<bool> several_worlds{false};
  std::atomic<bool> has_unrecorded_children{false};
  OwnDescriptor keeper;  // the process that touches the spool goes on, and judges nothing, as long as this is open
  std::timespec start_time{};
  // All ranks of this run, for the recorder alone. Made when recording begins, and not when the ranks are merged: a
  // collective that failed on MPI_COMM_WORLD may have left messages there that the next one would wait for.
  MPI_Comm recorders_comm{};

  /// Asks MPI for rank, ranks and thread level. True if another program has spawned this one.
  bool find_place_in_world();
  /// The same where MPI_Init was not called, and MPI cannot be asked for the thread level and for a parent.
  void find_place_within_sessions();

  /// Makes `recorders_comm` out of the world; collective. Nothing to make for a single rank. False if MPI fails.
  bool join_others();
  /// Frees `recorders_comm`; collective.
  void leave_others();

  /// The rank in the world of a rank in a communicator; Gathering::nowhere if it is of another world.
  int process_of(int rank_in_comm, MPI_Comm comm) const;
  /// Open MPI 5 starts spawned worlds without the variables that mpirun -x set.
  static bool spawns_without_variables();

  /// Number of processes of this world in the communicator.
  int members_of_this_world(MPI_Comm comm) const;

  RunFacts facts(const Counter& counter) const;
};

}  // namespace halcyon
