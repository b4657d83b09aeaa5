// What the system says about a process.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

namespace halcyon {

struct ProcessFacts {
  std::array<char, 64> name{};  // as in /proc/PID/comm
  char state = ' ';             // as in /proc/PID/stat: T if a signal has stopped it, Z if it is a zombie
  pid_t parent = 0;
  long threads = 0;              // that have not ended, and the first one
  std::uint64_t start_time = 0;  // in clock ticks since the system started; differs for a later process

  /// A process whose first thread alone has ended (pthread_exit) looks like a zombie, too, and goes on.
  bool has_ended() const { return (state == 'Z' && threads <= 1) || state == 'X'; }
};

/// Nothing if there is no such process. Async-signal-safe.
std::optional<ProcessFacts> facts_of(pid_t process);

/// Whether `ancestor` is `process` or one of those that it descends from.
bool descends_from(pid_t process, pid_t ancestor);

}  // namespace halcyon
