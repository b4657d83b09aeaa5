// Finds the file that an address of the program belongs to, while the file is loaded.
#pragma once

#include <cstdint>
#include <optional>

#include "libprofile/format/module.hpp"

namespace halcyon {

struct PlaceInModule {
  Module module;
  std::uintptr_t offset = 0;  // from the file's first address in memory
};

/// Empty for an address in no file, such as generated code. Takes some microseconds, and system calls.
std::optional<PlaceInModule> module_of(const void* address);

}  // namespace halcyon
