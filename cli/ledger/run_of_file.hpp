// What the ledger keeps of the run in a file.
#pragma once

#include <string>

#include "ledger/record/record_of_run.hpp"
#include "ledger/record/spool_file.hpp"

namespace halcyon::cli {

/// Judges a profile, or reads a spool file. Slices of a profile get longer until the run takes `most_bytes` in a spool,
/// or has one slice.
Outcome<ledger::SpooledRun> run_of_file(const std::string& file, ledger::Given given, std::size_t most_bytes);

/// What names the run of a profile in the ledger.
Outcome<std::string> key_of_profile(const std::string& profile);

/// Judges a profile, and puts its run into a spool. The name of the spool file.
Outcome<std::string> put_into_spool(const std::string& profile, const std::string& spool);

}  // namespace halcyon::cli
