// Which process of which run this is, and what the run was asked to do.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <ctime>
#include <string>

#include "libprofile/format/run_facts.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/record/counter.hpp"
#include "libprofile/record/settings.hpp"

namespace halcyon {

struct ThisRun {
  Settings settings;
  pid_t process = 0;  // that began to record
  int rank = 0;
  int ranks = 1;
  bool several_threads = false;  // MPI_THREAD_MULTIPLE
  // Spawned, or one that has spawned or met others: a communicator's size no longer says who is in it.
  std::atomic<bool> several_worlds{false};
  std::timespec start_time{};

  /// Asks MPI who this is. True where another program has spawned this one.
  bool find_place_in_world();

  /// The rank in the world of one of a communicator; Gathering::nowhere for one of another world.
  int process_of(int rank_in_comm, MPI_Comm comm) const;
  /// How many processes of this world are in the communicator.
  int members_of_this_world(MPI_Comm comm) const;

  RunFacts facts(const Counter& counter) const;
};

}  // namespace halcyon
