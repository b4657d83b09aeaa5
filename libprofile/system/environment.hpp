// Environment variables.
#pragma once

#include <cstdlib>

namespace halcyon {

/// The value of a variable; null if it is not set, or empty.
inline const char* environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace halcyon
