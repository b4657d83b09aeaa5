// Has a run judged by the command, which puts a row of it into the spool of a site.
#pragma once

#include <string>

namespace halcyon {

/// Whether the row of the run in this file is in the spool. `is_awaited`: by the program, which must not wait for a
/// spool that hangs, but else until the row is there. If not, what follows in the batch script has the CPUs first.
bool put_into_ledger(const std::string& run, const std::string& spool, bool is_awaited);

}  // namespace halcyon
