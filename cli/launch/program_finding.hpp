// What `halcyon doctor` finds out about the programs of a launch command.
#pragma once

#include "cli/launch/diagnosis.hpp"
#include "cli/launch/launchers.hpp"

namespace halcyon::cli {

/// The first program that cannot be recorded, or else the first of all.
Finding program_finding(const Words& launch, const Launcher& launcher);
/// The same for a rank, which is about to become the program. `family`: that of its recorder.
Finding program_finding_of_rank(const Words& program, MpiFamily family);

}  // namespace halcyon::cli
