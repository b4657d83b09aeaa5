// A lock on a directory that a process and the programs it starts hold together, until the last of them has ended.
#pragma once

#include <filesystem>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Locks the directory. A failure names the process that holds it, if that is one of this host and this user. The lock
/// is that of the descriptor: a program that inherits this holds the lock, too, even if this process is killed. Where a
/// file system knows no locks, or the directory cannot be opened, processes are not kept apart.
Outcome<Descriptor> lock_directory(const std::filesystem::path& directory);

}  // namespace halcyon::cli
