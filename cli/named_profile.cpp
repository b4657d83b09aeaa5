#include "cli/named_profile.hpp"

#include "libprofile/shared/setting_values.hpp"

namespace halcyon::cli {

Outcome<Profile> named_profile(const std::string& file, Columns columns) {
  Outcome<Profile> profile = read_profile(file, columns);
  // All other failures are of files that no copying mends: they are absent, foreign or newer.
  const bool is_damaged = !profile && profile.failure().message.find(" is damaged: ") != std::string::npos;
  if (!is_damaged) return profile;
  return Failure{profile.failure().message + ". Copy it again, or make it anew from its parts (halcyon recover " +
                 parts_of(file) + ")"};
}

}  // namespace halcyon::cli
