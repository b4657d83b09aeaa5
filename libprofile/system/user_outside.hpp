// Who the user of this process is to those outside its container.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <array>
#include <cinttypes>
#include <cstdio>

#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// As files that it makes are seen there: in a user namespace users may have other numbers, root among them
/// (user_namespaces(7)). `map`: what /proc/self/uid_map says.
inline uid_t user_outside(uid_t user, const char* map) {
  std::uintmax_t inside = 0;
  std::uintmax_t outside = 0;
  std::uintmax_t count = 0;
  int length = 0;
  for (; std::sscanf(map, "%ju %ju %ju%n", &inside, &outside, &count, &length) == 3; map += length) {
    if (user >= inside && user - inside < count) return static_cast<uid_t>(outside + (user - inside));
  }
  return user;
}

inline uid_t effective_user_outside() {
  std::array<char, 4096> map{};
  const OwnDescriptor file(direct::open("/proc/self/uid_map", O_RDONLY));
  if (file) direct::read_at(file.number(), map.data(), map.size() - 1, 0);
  return user_outside(direct::effective_user(), map.data());
}

}  // namespace halcyon
