// What the operating system says of ranks that waited for a CPU.
#pragma once

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// On any host, by what the ranks were bound to.
bool has_more_ranks_than_cores(const Profile& profile);
/// The time that the rank which waited longest was ready to run while others had the CPU, in s. 0 where the kernel does
/// not tell.
double longest_wait_for_cpu(const Profile& profile);

}  // namespace halcyon
