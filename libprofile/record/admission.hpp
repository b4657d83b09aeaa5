// Whether a run gets a row in the ledger of its site: asked on its first rank, when MPI is there.
#pragma once

#include "libprofile/record/settings.hpp"
#include "libprofile/shared/admission.hpp"

namespace halcyon {

/// ask_for_admission(), for seconds at most: a spool that hangs must not hold up the run.
Admission ask_for_admission_in_time(const Settings& settings);

}  // namespace halcyon
