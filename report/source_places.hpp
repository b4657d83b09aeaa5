// Functions and source lines of call sites, as far as their modules have symbols.
#pragma once

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Looks up all call sites of the profile that are given as module+offset, and enters what it finds into
/// `profile.places`. It uses a module only if it is a regular file, still at the recorded path, with the recorded
/// build-id. Separate debug files are found by elfutils' rules, but not over a network. A separate process with limits
/// reads the files; if a file is bad, its call sites stay unchanged.
void find_source_places(Profile& profile);

}  // namespace halcyon
