#include "libprofile/shared/admission.hpp"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "libprofile/shared/spool.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {
namespace {

// The operator's file of that name; empty if there is none.
OwnDescriptor file_of_operator(const std::string& name, const struct stat& spool) {
  OwnDescriptor file(direct::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat found {};
  if (!file || direct::status(file.number(), found) != 0 || !spool::is_of_the_operator(found, spool)) return {};
  return file;
}

// Names of programs, or of files if there is a slash in them; with the wildcards of a shell. `#`: the rest is a
// comment.
bool is_excluded_by(std::string_view line, const std::string& program, const std::string& file) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == line.npos) return false;
  const std::string pattern(line.substr(first, line.find_last_not_of(blanks) + 1 - first));
  const std::string& name = pattern.find('/') == pattern.npos ? program : file;
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool is_excluded(const OwnDescriptor& list, const std::string& program, const std::string& file) {
  constexpr std::size_t longest_list = std::size_t{1} << 20u;
  std::string text;
  std::array<std::byte, 4096> piece;
  while (text.size() < longest_list) {
    const long got = direct::read_at(list.number(), piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(got));
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_excluded_by(std::string_view(text).substr(at, end - at), program, file)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

Admission ask_for_admission(const std::string& spool, const std::string& program, const std::string& file) {
  const auto refused = [](const std::string& what, int error) {
    return Admission{.why_not = what + ": " + std::strerror(error)};
  };
  struct stat at {};
  if (direct::status_of_name((spool + "/.").c_str(), at) != 0) return refused(spool, errno);
  if (file_of_operator(spool + "/" + std::string(spool::name_of_switch), at)) return {};
  if (const OwnDescriptor list = file_of_operator(spool + "/" + std::string(spool::name_of_excluded), at)) {
    if (is_excluded(list, program, file)) return {};
  }
  const std::string place = spool::unfinished_of_this_user(spool);
  if (direct::make_directory(place.c_str(), S_IRWXU) == 0) {
    direct::allow(place.c_str(), S_IRWXU);  // whatever the umask
  } else if (errno != EEXIST) {
    return refused("cannot make " + place, errno);
  }
  struct stat there {};
  if (direct::status_of_name(place.c_str(), there) != 0) return refused(place, errno);
  const bool is_ours = S_ISDIR(there.st_mode) && there.st_uid == direct::effective_user();
  if (!is_ours) return {.why_not = place + " is no directory of this user"};
  // What is only looked at may come from a cache while the server hangs. `ledger collect` removes such a file.
  const std::string trial = place + "/" + std::to_string(direct::thread_id()) + ".partial";
  const OwnDescriptor made(direct::open(trial.c_str(), O_CREAT | O_WRONLY | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!made) return refused("cannot write to " + place, errno);
  direct::remove_file(trial.c_str());
  return {.is_admitted = true};
}

}  // namespace halcyon
