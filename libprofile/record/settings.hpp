// The recorder's settings: HALCYON_* variables, each named after its `halcyon run` option.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "libprofile/shared/setting_values.hpp"

namespace halcyon {

struct Settings {
  std::string output;
  std::string command;
  std::string receipt;  // the file that gives `halcyon run` the profile's name; may be empty
  CounterRequest counter;
  BoundaryChoice boundary = BoundaryChoice::automatic;
  int boundary_ranks = 0;  // 0: as many as the world has
  std::size_t memory_bytes = std::size_t{512} << 20;
  double background_seconds = 0.0;            // spent on measuring it, half before and half after the run
  bool probes = true;                         // of the machine, just before and just after the run
  std::string live_record;                    // the name of its file (live/writer.hpp); empty: there is none
  std::string job;                            // the launcher's name for it; may be empty
  int spill_seconds = default_spill_seconds;  // between two spills; 0: only when the run dies, or memory is full
};

/// A relative output is made absolute. A value that cannot be read keeps its default, and `complaint` says so.
Settings settings_from_environment(std::string& complaint);

/// Adapts the settings of a world that MPI_Comm_spawn started: its profile gets its own name and command, and the
/// receipt is left to the parents.
void set_apart_from_parent(Settings& settings);

/// The name of the script or module that Python was started with; empty if `program` is not Python, or has none.
std::string script_of(const std::string& program, const std::vector<std::string>& arguments);

/// The output path of a run: {app}, {np}, {jobid} and {timestamp} replaced.
std::string expand_output(const std::string& pattern, int ranks, const std::string& timestamp);
/// Local time, in the form used in file names.
std::string timestamp_of(std::time_t time);

/// Whether some of `ranks` ranks run on other hosts, according to the launcher's environment.
bool has_other_hosts(int ranks);

/// A number that is the same on all ranks of a run, and almost surely different in other runs. It comes from the
/// launcher's environment, or else from the launcher's process id. The ranks cannot agree on one by messages: a rank
/// that is not recorded could receive them.
std::uint64_t run_number();
/// The same as a text for names of files.
std::string name_of_run();

}  // namespace halcyon
