// Which file a place in the program lies in, while it is loaded.
#pragma once

#include <cstdint>
#include <optional>

#include "libprofile/format/module.hpp"

namespace halcyon {

struct PlaceInModule {
  Module module;
  std::uintptr_t offset = 0;  // from where the file begins in memory
};

/// Nothing for what lies in no file, such as generated code. Some microseconds, and system calls.
std::optional<PlaceInModule> module_of(const void* address);

}  // namespace halcyon
