// The file that this process executes.
#pragma once

#include <sys/auxv.h>
#include <unistd.h>

#include <climits>
#include <string>

namespace halcyon {

/// Without /proc, as the process was started: perhaps a link, or relative to the directory of that time.
inline std::string own_executable() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  if (size > 0) return {path, static_cast<std::size_t>(size)};
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started != nullptr ? started : "";
}

}  // namespace halcyon
