// The recorder's settings: HALCYON_* variables, each with the name of the `halcyon run` option it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "libprofile/record/shared_settings.hpp"

namespace halcyon {

struct Settings {
  std::string output;
  std::string command;
  std::string receipt;  // a file to be told the profile's name, for `halcyon run`; may be empty
  CounterRequest counter;
  BoundaryChoice boundary = BoundaryChoice::automatic;
  int boundary_ranks = 0;  // 0: as many as the world has
  std::size_t memory_bytes = std::size_t{512} << 20;
  double background_seconds = 0.0;            // spent on measuring it, half before and half after the run
  bool probes = true;                         // of the machine, just before and just after the run
  int spill_seconds = default_spill_seconds;  // between two spills; 0: only when the run dies, or memory ends
};

/// A relative output is made absolute. A value that cannot be read leaves its default, and a sentence in `complaint`.
Settings settings_from_environment(std::string& complaint);

/// Settings of a world that MPI_Comm_spawn started: its profile has a name and a command of its own, and the receipt is
/// the parents'.
void set_apart_from_parent(Settings& settings);

/// The name of the script that Python was started with, or of the module; empty where `program` is not Python, or has
/// none.
std::string script_of(const std::string& program, const std::vector<std::string>& arguments);

/// The output path of a run: {app}, {np}, {jobid} and {timestamp} replaced.
std::string expand_output(const std::string& pattern, int ranks, const std::string& timestamp);
/// Local time, as in a file's name.
std::string timestamp_of(std::time_t time);

/// A number that the ranks of a run share, and hardly those of another, as far as their launcher's environment tells
/// one. Ranks must not be asked: where some are not recorded, a message would meet one of theirs.
std::uint64_t run_number();

}  // namespace halcyon
