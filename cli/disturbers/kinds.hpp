// The kinds of disturbers. Each worker is a process that repeats a piece of work.
#pragma once

#include <cstdint>
#include <functional>

#include "cli/disturbers/two_hosts.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Does some work, normally a few milliseconds at most, and returns the amount in the unit of its kind.
using Piece = std::function<Outcome<std::uint64_t>()>;

struct WorkerPlace {
  int number = 0;                   // of the disturber's workers, from 0
  const TwoHosts* hosts = nullptr;  // for the network
};

/// Keeps one core busy, always the same, so that it disturbs one rank. Returns nanoseconds of CPU time.
Outcome<Piece> cpu_work(const WorkerPlace& place);
int cpu_workers();

/// Reads and writes arrays larger than the caches. Returns bytes read and written.
Outcome<Piece> memory_work(const WorkerPlace& place);
int memory_workers();

/// Rewrites a file of fixed size in the current directory again and again, with fsync. The file has no name, so it
/// disappears with its worker in any case. Returns bytes written.
Outcome<Piece> disk_work(const WorkerPlace& place);
int disk_workers();

/// Sends through the link between two hosts as fast as possible, with one worker per direction. Returns bytes that
/// arrived.
Outcome<Piece> network_work(const WorkerPlace& place);
int network_workers();

}  // namespace halcyon::cli
