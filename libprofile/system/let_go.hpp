// A helper of ours may outlive the program that has started it: nobody may wait for its end.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "libprofile/system/descriptor.hpp"

namespace halcyon {

/// Closes all descriptors behind the standard streams: connections and files that the program has left to this process.
inline void close_all_but_streams() {
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;  // since Linux 5.9
  std::vector<int> open;
  if (DIR* directory = opendir("/proc/self/fd"); directory != nullptr) {
    while (const dirent* entry = readdir(directory)) {
      if (const int file = std::atoi(entry->d_name); file > STDERR_FILENO) open.push_back(file);
    }
    closedir(directory);
  }
  for (const int file : open) direct::close(file);
}

/// Neither a launcher nor another rank waits for the end of these streams.
inline void let_go(std::initializer_list<int> streams) {
  const Descriptor nothing(direct::open("/dev/null", O_RDWR));
  for (const int stream : streams) dup2(nothing.number(), stream);
}

}  // namespace halcyon
