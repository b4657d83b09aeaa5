// Reads a profile file, and rejects a file that is not a profile.
#pragma once

#include <string>

#include "libprofile/system/outcome.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct Contents;

/// Which columns are read. `analyzed` leaves out those that no analysis uses: a fifth of a profile with injected
/// delays. Composing needs all.
enum class Columns { all, analyzed };

/// Reads and checks a profile: column lengths, bin indices, ranks and durations are within bounds afterwards, so that
/// no later stage has to check them. Accepts every schema version up to the newest, and rejects newer ones by number.
Outcome<Profile> read_profile(const std::string& path, Columns columns = Columns::all);

/// The checks of read_profile(), on the contents of the file at `path`.
Outcome<Profile> check_profile(Contents contents, const std::string& path, Columns columns = Columns::all);

}  // namespace halcyon
