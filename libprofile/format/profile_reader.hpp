// Reading a profile file, and refusing what is not one.
#pragma once

#include <string>

#include "libprofile/format/outcome.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Contents;

/// Which columns are read. What no analysis looks at is left empty by `analyzed`: it is a fifth of a profile with
/// injected delays, and composing needs it.
enum class Columns { all, analyzed };

/// Reads and checks a profile: column lengths, bin indices, ranks and durations are within bounds afterwards, so that
/// no later stage has to ask. Accepts every schema version up to the newest, refuses newer ones by number.
Outcome<Profile> read_profile(const std::string& path, Columns columns = Columns::all);

/// The checks of it, on what the file at `path` was found to hold.
Outcome<Profile> check_profile(Contents contents, const std::string& path, Columns columns = Columns::all);

}  // namespace halcyon
