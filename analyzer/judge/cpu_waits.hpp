// What the operating system says about ranks that waited for a CPU.
#pragma once

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// On any host. Uses the cores to which ranks were bound.
bool has_more_ranks_than_cores(const Profile& profile);
/// Whether the threads of some rank that were busy at a time are more than the CPUs to which it is bound, or those of all
/// ranks of a host more than its CPUs. False if a recorder before schema version 5 did not count them.
bool has_more_threads_than_cores(const Profile& profile);
/// The longest time that any rank was ready to run while others had the CPU, in s. 0 if the kernel does not say.
double longest_wait_for_cpu(const Profile& profile);

}  // namespace halcyon
