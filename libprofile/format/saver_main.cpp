// halcyon-save: the process that saves rank 0's frames of a run that only the ledger of a site wants. No profile is
// made of them, so that the program waits for neither HDF5 nor the judgment: that follows the answer. Where it fails,
// or is ended with the job, the frames stay, and `halcyon ledger collect` tries it again. They are locked meanwhile, so
// that the epilog of a job does not judge them, too.
//
// usage: halcyon-save PATH SPOOL <frames   PATH: the profile's; the frames' has .frames in the place of .h5. Prints
// "ok: " and their path, or "error: reason", on standard output.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/new_file.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/shared/into_ledger.hpp"
#include "libprofile/system/cannot_write.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/let_go.hpp"
#include "libprofile/system/outlives_job.hpp"

namespace halcyon {
namespace {

// All that the program sends: it must not wait for a spool that hangs before it has sent that.
std::vector<char> all_that_comes() {
  std::vector<char> all;
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (std::size_t size = 0;;) {
    all.resize(size + piece);
    const ssize_t got = read(STDIN_FILENO, &all[size], piece);
    if (got > 0) size += static_cast<std::size_t>(got);
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    all.resize(size);
    return all;
  }
}

// Whether the program has sent its last frame.
bool are_whole(const std::vector<char>& frames) {
  const FrameHeader last{.kind = FrameKind::end};
  return frames.size() >= sizeof last &&
         std::memcmp(frames.data() + frames.size() - sizeof last, &last, sizeof last) == 0;
}

bool write_frames(int file, std::string_view frames) {
  FrameWriter first(file);
  first.attribute("schema_version", std::int64_t{newest_schema_version});
  if (!first.ok()) return false;
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (; !frames.empty(); frames.remove_prefix(std::min(piece, frames.size()))) {
    if (!write_fully(file, frames.data(), std::min(piece, frames.size()))) return false;
    [[maybe_unused]] const ssize_t told = write(STDOUT_FILENO, &still_writes, 1);
  }
  return true;
}

// Returns the name that they got.
Outcome<std::string> save_frames(const std::string& path) {
  const std::vector<char> frames = all_that_comes();
  if (!are_whole(frames)) return Failure{"the profile's data ended early"};
  NewFile place(path);
  if (const Status made = place.create(); !made) return made.failure();
  {
    const Descriptor file(open(place.partial().c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || !write_frames(file.number(), {frames.data(), frames.size()})) return cannot_write(path, errno);
  }
  return place.give_name();
}

std::string path_of_frames(const std::string& profile) {
  constexpr std::string_view ending = ".h5";
  return profile.substr(0, profile.size() - (profile.ends_with(ending) ? ending.size() : 0)) + ".frames";
}

}  // namespace
}  // namespace halcyon

int main(int argc, char** argv) {
  using namespace halcyon;
  if (argc != 3) {
    std::puts("error: usage: halcyon-save PATH SPOOL <frames");
    return 2;
  }
  outlive_the_job();
  close_all_but_streams();
  let_go({STDERR_FILENO});
  const Outcome<std::string> path = save_frames(path_of_frames(argv[1]));
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  const bool is_told = std::fflush(stdout) == 0;
  if (!path) return 1;
  if (!is_told) {
    unlink(path->c_str());  // the program has waited long enough, and has left its parts
    return 1;
  }
  let_go({STDIN_FILENO, STDOUT_FILENO});
  const Descriptor frames(open(path->c_str(), O_RDWR | O_CLOEXEC));  // which a lock over NFS asks for
  if (frames) flock(frames.number(), LOCK_EX | LOCK_NB);
  if (put_into_ledger(*path, argv[2], false)) unlink(path->c_str());
  return 0;
}
