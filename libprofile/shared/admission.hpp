// Whether a run gets a row in the ledger of its site.
#pragma once

#include <string>

namespace halcyon {

struct Admission {
  bool is_admitted = false;
  std::string why_not;  // empty if the site, or the user, does not want it
};

/// Looks at the operator's files in the spool, and makes the place in it where the run leaves its records. `program`:
/// its name, or that of its script; `file`: its executable. Waits as long as the file system of the spool does.
Admission ask_for_admission(const std::string& spool, const std::string& program, const std::string& file);

}  // namespace halcyon
