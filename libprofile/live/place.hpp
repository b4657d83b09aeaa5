// Where live records are, and who may access them: one directory for each user, in shared memory. Both the ranks and
// the readers use these functions.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/system/descriptor.hpp"

namespace halcyon::live {

/// Where the directories of all users are: the system's shared memory, or what HALCYON_LIVE_DIR names in its place.
std::string shared_memory();

/// The directory of the records of this process's user.
std::string directory_of_records(const std::string& root = shared_memory());

/// Opens the directory, which must be this user's and closed to all others. `makes`: creates it if it is missing.
Outcome<Descriptor> open_directory(const std::string& path, bool makes);

/// The same directory, once it has been checked. Async-signal-safe.
Descriptor open_silently(const char* path);

/// Opens a record. It must be a regular file of this user that is closed to all others; a link is not followed.
/// `flags`: of open(2).
Outcome<Descriptor> open_record(const Descriptor& directory, const std::string& name, int flags);

/// A process holds it while it creates, joins, leaves or removes a record. Waits a second at most. Async-signal-safe.
class DirectoryLock {
 public:
  explicit DirectoryLock(int directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  bool is_held() const { return is_held_; }

 private:
  int directory_;
  bool is_held_ = false;
};

/// Whether a record can belong to a running job, whatever is in it: a rank has it mapped until it ends. Unknown where
/// the kernel does not tell.
enum class Life { alive, dead, unknown };
/// `record` is open for reading alone, and this process has no other descriptor of it that can write.
Life life_of(const Descriptor& record);

/// Names of the files in the directory, in their order.
std::vector<std::string> names_in(const std::string& directory);

/// Removes a dead record. True if it did. The caller holds the lock of the directory.
bool remove_if_dead(const Descriptor& directory, const std::string& name);

}  // namespace halcyon::live
