#include "libprofile/format/save_frames.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "libprofile/format/new_file.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/format/stream.hpp"

namespace halcyon {
namespace {

std::string path_of_frames(const std::string& profile) {
  constexpr std::string_view ending = ".h5";
  return profile.substr(0, profile.size() - (profile.ends_with(ending) ? ending.size() : 0)) + ".frames";
}

bool copy(int from, int to, const std::function<void()>& goes_on) {
  struct stat state {};
  if (fstat(from, &state) != 0) return false;
  std::vector<char> piece(std::size_t{1} << 20);
  const auto size = static_cast<std::size_t>(state.st_size);
  for (std::size_t at = 0; at < size; at += piece.size()) {
    const std::size_t bytes = std::min(piece.size(), size - at);
    if (!read_at(from, at, piece.data(), bytes) || !write_fully(to, piece.data(), bytes)) return false;
    goes_on();
  }
  return true;
}

}  // namespace

SavedFrames save_frames(const Descriptor& frames, const std::string& profile, const std::function<void()>& goes_on) {
  const auto failed = [] { return SavedFrames{.error = errno != 0 ? errno : EIO}; };
  errno = 0;
  NewFile place(path_of_frames(profile));
  if (!place.create()) return failed();
  Descriptor file(open(place.partial().c_str(), O_RDWR | O_CLOEXEC));  // which a lock over NFS asks for
  if (!file) return failed();
  flock(file.number(), LOCK_EX | LOCK_NB);
  FrameWriter first(file.number());
  first.attribute("schema_version", std::int64_t{newest_schema_version});
  if (!first.ok() || !copy(frames.number(), file.number(), goes_on)) return failed();
  const Outcome<std::string> path = place.give_name();
  if (!path) return failed();
  return {.path = *path, .file = std::move(file)};
}

}  // namespace halcyon
