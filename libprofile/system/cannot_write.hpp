// What a user is told of a file that cannot be written.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// `error`: of errno; 0 if it is not known.
inline Failure cannot_write(const std::string& file, int error) {
  const bool has_no_room = error == ENOSPC || error == EDQUOT;
  return "cannot write " + file + (error != 0 ? std::string(": ") + std::strerror(error) : "") +
         (has_no_room ? ": make room there" : "");
}

}  // namespace halcyon
