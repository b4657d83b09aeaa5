// Functions and source lines of call sites, where the symbols of their modules tell.
#pragma once

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// Looks up all call sites of the profile that are given as module+offset, and notes what it finds in `profile.places`.
/// Only in a regular file that is still where the profile says and has the build-id that was recorded; separate debug
/// files are found as elfutils finds them, but not over a network. A process of its own, with limits, reads the files:
/// whatever is wrong with one, its call sites stay as they are.
void find_source_places(Profile& profile);

}  // namespace halcyon
