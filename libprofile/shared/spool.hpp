// The spool of a site's ledger, as the recorder and the command see it: docs/ledger.md says what lies in it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "libprofile/system/user_outside.hpp"

namespace halcyon::spool {

/// The value of HALCYON_LEDGER with which a user keeps the own runs out of the ledger.
inline constexpr std::string_view not_wanted = "off";

/// As long as the operator has a file of this name there, no run is recorded for the ledger.
inline constexpr std::string_view name_of_switch = "off";
/// The operator's list of programs that are not recorded: a pattern a line.
inline constexpr std::string_view name_of_excluded = "exclude";

/// Where the runs of this user leave what is no spool file yet: their parts while they run, and profiles until they are
/// judged.
inline constexpr std::string_view beginning_of_unfinished = "unfinished-";
inline std::string unfinished_of_this_user(const std::string& spool) {
  return spool + "/" + std::string(beginning_of_unfinished) + std::to_string(effective_user_outside());
}

/// Everybody may make files in a spool: such a file counts if it is of the operator.
inline bool is_for_the_operator(std::string_view name) { return name == name_of_switch || name == name_of_excluded; }
inline bool is_of_the_operator(const struct stat& file, const struct stat& spool) {
  return S_ISREG(file.st_mode) && (file.st_uid == 0 || file.st_uid == spool.st_uid);
}
/// The same of a file that is there, by name.
inline bool has_file_of_the_operator(const std::string& spool, std::string_view name) {
  struct stat file {};
  struct stat around {};
  return lstat((spool + "/" + std::string(name)).c_str(), &file) == 0 && stat((spool + "/.").c_str(), &around) == 0 &&
         is_of_the_operator(file, around);
}

}  // namespace halcyon::spool
