// Whether a run gets a row in the ledger of its site: asked on its first rank, when MPI is there. And the process of
// each host that touches the spool for the ranks there (parts/spool_keeper.hpp).
#pragma once

#include <string>

#include "libprofile/record/settings.hpp"
#include "libprofile/shared/admission.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// No other process has this name, on any host of the run.
std::string name_of_new_keeper();

/// ask_for_admission(), for seconds at most: a spool that hangs must not hold up the run. The process that asks then
/// becomes the keeper of that name, if that is not empty, and goes on at least as long as `awaits` is open.
Admission ask_for_admission_in_time(const Settings& settings, const std::string& name, OwnDescriptor& awaits);

/// The same of another host, which has nothing to ask for.
OwnDescriptor start_keeper(const std::string& name);

}  // namespace halcyon
