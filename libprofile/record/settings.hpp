// The recorder's settings: HALCYON_* variables, each named after its `halcyon run` option except for those by which
// `halcyon run` itself talks to its ranks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libprofile/shared/setting_values.hpp"

namespace halcyon {

struct Settings {
  std::string output;
  std::string command;
  std::vector<std::string> receipts;  // for `halcyon run`, the first that this rank sees counts; none: it was not used
  CounterRequest counter;
  BoundaryChoice boundary = BoundaryChoice::automatic;
  int boundary_ranks = 0;  // 0: as many as the world has
  std::size_t memory_bytes = std::size_t{default_memory_mebibytes} << 20;
  double background_seconds = 0.0;            // spent on measuring it, half before and half after the run
  bool probes = true;                         // of the machine, just before and just after the run
  bool names = true;                          // of the user, the hosts and the batch system are in the profile
  std::string label;                          // words that tell runs of a program apart
  std::string note;                           // kept as it is
  std::string live_record;                    // the name of its file (live/writer.hpp); empty: there is none
  std::string job;                            // the launcher's name for it; may be empty
  int spill_seconds = default_spill_seconds;  // between two spills; 0: only when the run dies, or memory is full
  std::string ledger;                         // the spool that gets a row of the run; empty: none does
  std::string keeper;                         // the process that touches it for the ranks of a host; empty: none does
  bool keeps_profile = true;                  // false: the profile is made for that row alone
};

/// A relative output is made absolute. A value that cannot be read keeps its default, and `complaint` says so.
Settings settings_from_environment(std::string& complaint);

/// Whether nobody has asked for a profile: the site records all runs for its ledger, or has and the user does not want
/// it.
bool is_for_the_ledger_alone();

/// LD_PRELOAD and the variables of the recorder and the injector in this environment, a line each, behind the lines
/// `given`: as many as fit into `room` characters. Empty if LD_PRELOAD does not, or is not set. Where `given` has an
/// LD_PRELOAD, that is the program's will, and nothing is added.
std::string variables_of_children(const std::string& given, std::size_t room);
/// Adapts the settings of a world that MPI_Comm_spawn started: its profile gets its own name and command, and the
/// receipt is left to the parents.
void set_apart_from_parent(Settings& settings);

}  // namespace halcyon
