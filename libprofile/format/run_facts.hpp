// The facts of a run that any of its ranks knows before the run ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace halcyon {

/// for_each_run_fact() in columns.hpp describes each.
struct RunFacts {
  std::string recorder_version;
  std::string command;
  std::string mpi;
  std::string counter;                 // "papi:EVENT", "cpu" or "none"
  std::string compute_units;           // "ns" for CPU time, else "1"
  std::string start_time;              // ISO 8601, UTC
  std::int64_t start_nanoseconds = 0;  // the same since 1970; 0 in older profiles
  std::string inject;                  // the SPECs that intM followed; empty if it was not loaded
  std::string boundary;                // the setting of HALCYON_BOUNDARY; empty in older profiles: all-to-all
  // given by who recorded it; empty if they were not, or in older profiles
  std::string label;  // words with blanks between them
  std::string note;
  // of the batch system; empty where it does not say, in older profiles, and names also where they are left out
  std::string job;
  std::string job_step;
  std::string user;
  std::string project;
  std::string cluster;
  std::string partition;
  std::string node_list;
};

/// Conversion to bytes, and back. Throws std::runtime_error if `packed` is cut off.
std::vector<std::byte> pack_facts(const RunFacts& facts);
RunFacts unpack_facts(const std::vector<std::byte>& packed);

}  // namespace halcyon
