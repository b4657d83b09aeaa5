// Environment variables.
#pragma once

#include <cstdlib>

namespace halcyon {

/// The value of a variable; null if it is not set, or empty.
inline const char* environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// The same of a variable of ours, HALCYON_* or INTM_*. If the program has removed it since (`clearenv`), it has the
/// value that the process began with: who started the program has set it.
const char* setting(const char* name);

}  // namespace halcyon
