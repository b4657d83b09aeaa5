// halcyon-write: the process that turns rank 0's frames into an HDF5 file. It is a separate process, so that HDF5 never
// enters the application: two versions of HDF5 in one process often crash.
//
// usage: halcyon-write PATH [SPOOL [remove]] <frames   Prints "ok: PATH" or "error: reason" on standard output.
//
// With SPOOL, the ledger of the site gets a row of the run by way of it, for which the command judges the profile.
//
// Where nobody wants the profile itself (remove), none is made: the frames are saved as they are (PATH, with .frames in
// the place of .h5), and judged after the answer, so that the program waits for neither. Where that fails, or is ended
// with the job, they stay, and `halcyon ledger collect` tries it again. They are locked meanwhile, so that the epilog
// of a job does not judge them, too.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/new_file.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "libprofile/format/schema.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/system/cannot_write.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/let_go.hpp"
#include "libprofile/system/own_executable.hpp"
#include "libprofile/system/patience.hpp"

namespace {

std::string path_of_libexec() {
  const std::string own = halcyon::own_executable();
  return own.substr(0, own.rfind('/') + 1);
}

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
  const halcyon::FrameHeader last{.kind = halcyon::FrameKind::end};
  return frames.size() >= sizeof last &&
         std::memcmp(frames.data() + frames.size() - sizeof last, &last, sizeof last) == 0;
}

bool write_frames(int file, std::string_view frames) {
  halcyon::FrameWriter first(file);
  first.attribute("schema_version", std::int64_t{halcyon::newest_schema_version});
  if (!first.ok()) return false;
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (; !frames.empty(); frames.remove_prefix(std::min(piece, frames.size()))) {
    if (!halcyon::write_fully(file, frames.data(), std::min(piece, frames.size()))) return false;
    [[maybe_unused]] const ssize_t told = write(STDOUT_FILENO, &halcyon::still_writes, 1);
  }
  return true;
}

// Saves the frames; returns the name that they got.
halcyon::Outcome<std::string> save_frames(const std::string& path) {
  const std::vector<char> frames = all_that_comes();
  if (!are_whole(frames)) return halcyon::Failure{"the profile's data ended early"};
  halcyon::NewFile place(path);
  if (const halcyon::Status made = place.create(); !made) return made.failure();
  {
    const halcyon::Descriptor file(open(place.partial().c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || !write_frames(file.number(), {frames.data(), frames.size()}))
      return halcyon::cannot_write(path, errno);
  }
  return place.give_name();
}

std::string path_of_frames(const std::string& profile) {
  constexpr std::string_view ending = ".h5";
  return profile.substr(0, profile.size() - (profile.ends_with(ending) ? ending.size() : 0)) + ".frames";
}

// A program of ours that prints something when it is through.
class Child {
 public:
  explicit Child(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = halcyon::Descriptor(ends[0]);
    const halcyon::Descriptor of_child(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&streams, of_child.number(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&process_, arguments.front(), &streams, nullptr, arguments.data(), environ) != 0) process_ = -1;
    posix_spawn_file_actions_destroy(&streams);
  }

  /// Within the time that a program waits for a file system.
  bool ends_soon() const {
    pollfd ended{output_.number(), POLLIN, 0};
    return poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(halcyon::patience).count())) != 0;
  }
  bool succeeds() const {
    int status = 0;
    return process_ > 0 && waitpid(process_, &status, 0) == process_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  halcyon::Descriptor output_;
  pid_t process_ = -1;
};

// Whether the row is in the spool. What follows in the batch script has the CPUs first. `is_awaited`: by the program,
// which must not wait for a spool that hangs, but else until the row is there. Who asks the spool then tells it from
// one that is slow; the row comes when it answers.
bool put_into_ledger(const std::string& profile, const std::string& spool, bool is_awaited) {
  // Where the job has used up its memory, this ends, and not the job.
  const halcyon::Descriptor badness(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr char first_to_go[] = "1000";
  if (badness) [[maybe_unused]]
    const ssize_t written = write(badness.number(), first_to_go, sizeof first_to_go - 1);
  constexpr int last = 19;
  [[maybe_unused]] const int priority = nice(last);
  const std::string libexec = path_of_libexec();
  const Child adding(
      {libexec + HALCYON_BINDIR_FROM_LIBEXECDIR "/halcyon", "ledger", "add", "--spool", spool, "--", profile});
  while (is_awaited && !adding.ends_soon()) {
    const Child asking({libexec + "halcyon-keep", "", spool, "", ""});
    if (!asking.ends_soon()) return false;
    asking.succeeds();
  }
  return adding.succeeds();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::puts("error: usage: halcyon-write PATH [SPOOL [remove]] <frames");
    return 2;
  }
  umask(umask(0) & (S_IRWXG | S_IRWXO));  // the program's umask may deny its owner the profile
  std::signal(SIGXFSZ, SIG_IGN);          // a limit on file sizes is reported as an error, and must not end the process
  // These signals ask all processes of a job to end. This one ends at the end of its input instead, so that it never
  // leaves half a file.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE}) std::signal(number, SIG_IGN);
  const bool is_removed = argc > 3;
  // The launcher may wait for the end of all that the program has left to this process, and to those that it starts.
  if (argc > 2) halcyon::close_all_but_streams();
  if (is_removed) halcyon::let_go({STDERR_FILENO});
  const halcyon::Outcome<std::string> path =
      is_removed ? save_frames(path_of_frames(argv[1])) : halcyon::write_profile_from_frames(STDIN_FILENO, argv[1]);
  if (path && argc > 2 && !is_removed) put_into_ledger(*path, argv[2], true);
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  const bool is_told = std::fflush(stdout) == 0;
  if (!path) return 1;
  if (is_removed && !is_told) {
    unlink(path->c_str());  // the program has waited long enough, and has left its parts
  } else if (is_removed) {
    halcyon::let_go({STDIN_FILENO, STDOUT_FILENO});
    const halcyon::Descriptor frames(open(path->c_str(), O_RDWR | O_CLOEXEC));  // which a lock over NFS asks for
    if (frames) flock(frames.number(), LOCK_EX | LOCK_NB);
    if (put_into_ledger(*path, argv[2], false)) unlink(path->c_str());
  }
  return 0;
}
