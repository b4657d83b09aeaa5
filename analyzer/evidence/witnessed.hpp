// Who had the CPUs that ranks waited for, in words.
#pragma once

#include <string>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// "cc1plus of ann, job 4711"
std::string words_of(const Party& party);

/// Those outside of the run that had most, with their shares: "cc1plus of ann, job 4711 (64 %), make of ann (9 %)".
/// Empty without a witness, or if none of them had a twentieth of what ranks waited.
std::string who_had_the_cpus(const Profile& profile);

}  // namespace halcyon
