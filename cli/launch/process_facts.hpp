// What the system tells of a process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace halcyon::cli {

struct ProcessFacts {
  std::string name;  // as in /proc/PID/comm
  char state = ' ';  // as in /proc/PID/stat: T if a signal has stopped it
  pid_t parent = 0;
};

/// Nothing if there is no such process.
std::optional<ProcessFacts> facts_of(pid_t process);

/// Whether `ancestor` is `process` or one of those that it descends from.
bool descends_from(pid_t process, pid_t ancestor);

}  // namespace halcyon::cli
