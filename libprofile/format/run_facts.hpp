// The facts of a run that any of its ranks knows before the run ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace halcyon {

/// Texts; for_each_run_fact() in columns.hpp describes each.
struct RunFacts {
  std::string recorder_version;
  std::string command;
  std::string mpi;
  std::string counter;
  std::string compute_units;
  std::string start_time;
  std::string inject;
  std::string boundary;
};

struct Profile;
void set_facts(const RunFacts& facts, Profile& profile);

/// Conversion to bytes, and back. Throws std::runtime_error if `packed` is cut off.
std::vector<std::byte> pack_facts(const RunFacts& facts);
RunFacts unpack_facts(const std::vector<std::byte>& packed);

}  // namespace halcyon
