// Whether a run gets a row in the ledger of its site: asked on its first rank, when MPI is there.
#pragma once

#include <string>

#include "libprofile/record/settings.hpp"

namespace halcyon {

struct Admission {
  bool is_admitted = false;
  std::string why_not;  // empty if the site, or the user, does not want it
};

/// Looks at the operator's files in the spool, and makes the place in it where the run leaves its records.
Admission ask_for_admission(const Settings& settings);

}  // namespace halcyon
