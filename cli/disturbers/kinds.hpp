// What the kinds of disturbers do. A worker, a process of its own, does pieces of it again and again.
#pragma once

#include <cstdint>
#include <functional>

#include "cli/disturbers/two_hosts.hpp"
#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

/// Does some work, of some milliseconds at most where the machine lets it; gives how much, in the unit of its kind.
using Piece = std::function<Outcome<std::uint64_t>()>;

struct WorkerPlace {
  int number = 0;                   // of the disturber's workers, from 0
  const TwoHosts* hosts = nullptr;  // for the network
};

/// Keeps one core busy, always the same: one rank's neighbour. Gives nanoseconds of CPU time.
Outcome<Piece> cpu_work(const WorkerPlace& place);
int cpu_workers();

/// Streams through arrays larger than the caches. Gives bytes read and written.
Outcome<Piece> memory_work(const WorkerPlace& place);
int memory_workers();

/// Writes a file of bounded size in the current directory over and over, with fsync. The file has no name, so that it
/// is gone with its worker however that ends. Gives bytes written.
Outcome<Piece> disk_work(const WorkerPlace& place);
int disk_workers();

/// Sends through the link between two hosts as fast as it lets, one worker in either direction. Gives bytes that
/// arrived.
Outcome<Piece> network_work(const WorkerPlace& place);
int network_workers();

}  // namespace halcyon::cli
