#include "libprofile/live/place.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "libprofile/system/environment.hpp"

namespace halcyon::live {
namespace {

// Calls the kernel directly: in a rank, intM must not take these for the application's.
int open_at(int directory, const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(syscall(SYS_openat, directory, path, flags | O_CLOEXEC, mode));
}

bool is_private(const struct stat& state) { return state.st_uid == geteuid() && (state.st_mode & 077) == 0; }

Failure cannot_open(const std::string& path) { return Failure{"cannot open " + path + ": " + std::strerror(errno)}; }
Failure not_private(const std::string& path) {
  return Failure{path + " is not used: it belongs to another user, or others can read or write it"};
}

}  // namespace

std::string shared_memory() {
  const char* const named = setting("HALCYON_LIVE_DIR");
  return named != nullptr ? named : "/dev/shm";
}

std::string directory_of_records(const std::string& root) {
  return root + "/halcyon-" + std::to_string(static_cast<unsigned>(geteuid()));
}

Descriptor open_silently(const char* path) {
  return Descriptor(open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

Outcome<Descriptor> open_directory(const std::string& path, bool makes) {
  if (makes && mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failure{"cannot create " + path + ": " + std::strerror(errno)};
  }
  Descriptor directory = open_silently(path.c_str());
  if (!directory) return cannot_open(path);
  struct stat state {};
  if (fstat(directory.number(), &state) != 0 || !is_private(state)) return not_private(path);
  return directory;
}

Outcome<Descriptor> open_record(const Descriptor& directory, const std::string& name, int flags) {
  // Without O_NONBLOCK, a pipe of this name would be waited for.
  Descriptor record(open_at(directory.number(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!record) return cannot_open(name);
  struct stat state {};
  if (fstat(record.number(), &state) != 0 || !is_private(state)) return not_private(name);
  if (!S_ISREG(state.st_mode)) return Failure{name + " is not a live record: it is not a file"};
  return record;
}

DirectoryLock::DirectoryLock(int directory) : directory_(directory) {
  constexpr int most_tries = 1000;
  const timespec millisecond{0, 1'000'000};
  for (int i = 0; i < most_tries; ++i) {
    is_held_ = flock(directory_, LOCK_EX | LOCK_NB) == 0;
    if (is_held_ || (errno != EWOULDBLOCK && errno != EINTR)) return;
    nanosleep(&millisecond, nullptr);
  }
}

DirectoryLock::~DirectoryLock() {
  if (is_held_) flock(directory_, LOCK_UN);
}

// The kernel grants a lease for reading only while no process, in whatever name space, has the file open or mapped for
// writing. It can tell so of files in memory: an overlay forgets who has mapped one.
Life life_of(const Descriptor& record) {
  struct statfs system {};
  if (fstatfs(record.number(), &system) != 0 || system.f_type != TMPFS_MAGIC) return Life::unknown;
  // Who opens the file for writing meanwhile makes the kernel send a signal: one that by default does nothing.
  if (fcntl(record.number(), F_SETSIG, SIGURG) != 0) return Life::unknown;
  if (fcntl(record.number(), F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? Life::alive : Life::unknown;
  fcntl(record.number(), F_SETLEASE, F_UNLCK);
  return Life::dead;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  if (DIR* entries = opendir(directory.c_str()); entries != nullptr) {
    while (const dirent* entry = readdir(entries)) {
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    }
    closedir(entries);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool remove_if_dead(const Descriptor& directory, const std::string& name) {
  const Outcome<Descriptor> record = open_record(directory, name, O_RDONLY);
  return record && life_of(*record) == Life::dead && unlinkat(directory.number(), name.c_str(), 0) == 0;
}

}  // namespace halcyon::live
