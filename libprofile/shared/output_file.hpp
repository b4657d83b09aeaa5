// The file that -o and HALCYON_OUTPUT mean.
#pragma once

#include <sys/stat.h>

#include <string>

#include "libprofile/shared/setting_values.hpp"

namespace halcyon {

/// In a directory, which is there or is named with a slash at its end, the profile has its default name.
inline std::string file_of_output(const std::string& output) {
  struct stat there {};
  if (output.ends_with('/')) return output + default_output;
  const bool is_directory = stat(output.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
  return is_directory ? output + "/" + default_output : output;
}

}  // namespace halcyon
