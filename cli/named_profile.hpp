// The profiles that a user names.
#pragma once

#include <string>

#include "libprofile/format/profile_reader.hpp"

namespace halcyon::cli {

/// Reads a profile. If it is damaged, the failure says what to do.
Outcome<Profile> named_profile(const std::string& file, Columns columns = Columns::all);

}  // namespace halcyon::cli
