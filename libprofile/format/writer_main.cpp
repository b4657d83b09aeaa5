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
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
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

namespace {

std::string path_of_command() {
  const std::string own = halcyon::own_executable();
  return own.substr(0, own.rfind('/')) + "/" HALCYON_BINDIR_FROM_LIBEXECDIR "/halcyon";
}

// False if it cannot be written.
bool copy(int from, int to, void (*goes_on)()) {
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if (!halcyon::write_fully(to, piece.data(), static_cast<std::size_t>(got))) return false;
    goes_on();
  }
}

bool are_whole(int frames) {
  halcyon::Frame frame;
  while (halcyon::read_frame(frames, frame) == halcyon::Received::frame) {
    if (frame.kind == halcyon::FrameKind::end) return true;
  }
  return false;
}

// Saves the frames that come from the program; returns the name that they got. All are in memory first: the program
// must not wait for a spool that hangs before it has sent them.
halcyon::Outcome<std::string> save_frames(const std::string& path) {
  constexpr unsigned close_on_exec = 1;
  const halcyon::Descriptor memory(static_cast<int>(syscall(SYS_memfd_create, "halcyon", close_on_exec)));
  halcyon::FrameWriter(memory.number()).attribute("schema_version", std::int64_t{halcyon::newest_schema_version});
  if (!copy(STDIN_FILENO, memory.number(), [] {})) return halcyon::Failure{"the profile's data has no room in memory"};
  lseek(memory.number(), 0, SEEK_SET);
  if (!are_whole(memory.number())) return halcyon::Failure{"the profile's data ended early"};
  lseek(memory.number(), 0, SEEK_SET);
  halcyon::NewFile place(path);
  if (const halcyon::Status made = place.create(); !made) return made.failure();
  {
    const halcyon::Descriptor file(open(place.partial().c_str(), O_WRONLY | O_CLOEXEC));
    const auto tell = [] { [[maybe_unused]] const ssize_t told = write(STDOUT_FILENO, &halcyon::still_writes, 1); };
    if (!file || !copy(memory.number(), file.number(), tell)) return halcyon::cannot_write(path, errno);
  }
  return place.give_name();
}

std::string path_of_frames(const std::string& profile) {
  constexpr std::string_view ending = ".h5";
  return profile.substr(0, profile.size() - (profile.ends_with(ending) ? ending.size() : 0)) + ".frames";
}

// Whether the row is in the spool. What follows in the batch script has the CPUs first.
bool put_into_ledger(const std::string& profile, const char* spool) {
  const std::string command = path_of_command();
  const char* const arguments[] = {command.c_str(), "ledger", "add", "--spool", spool, "--", profile.c_str(), nullptr};
  // Where the job has used up its memory, this ends, and not the job.
  const halcyon::Descriptor badness(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr char first_to_go[] = "1000";
  if (badness) [[maybe_unused]]
    const ssize_t written = write(badness.number(), first_to_go, sizeof first_to_go - 1);
  constexpr int last = 19;
  [[maybe_unused]] const int priority = nice(last);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&streams, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const bool is_started =
      posix_spawn(&child, command.c_str(), &streams, nullptr, const_cast<char* const*>(arguments), environ) == 0;
  posix_spawn_file_actions_destroy(&streams);
  int status = 0;
  return is_started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
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
  if (is_removed) {  // the launcher may wait for the end of all that the program has left to this process
    halcyon::close_all_but_streams();
    halcyon::let_go({STDERR_FILENO});
  }
  const halcyon::Outcome<std::string> path =
      is_removed ? save_frames(path_of_frames(argv[1])) : halcyon::write_profile_from_frames(STDIN_FILENO, argv[1]);
  if (path && argc > 2 && !is_removed) put_into_ledger(*path, argv[2]);
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  const bool is_told = std::fflush(stdout) == 0;
  if (!path) return 1;
  if (is_removed && !is_told) {
    unlink(path->c_str());  // the program has waited long enough, and has left its parts
  } else if (is_removed) {
    halcyon::let_go({STDIN_FILENO, STDOUT_FILENO});
    const halcyon::Descriptor frames(open(path->c_str(), O_RDWR | O_CLOEXEC));  // which a lock over NFS asks for
    if (frames) flock(frames.number(), LOCK_EX | LOCK_NB);
    if (put_into_ledger(*path, argv[2])) unlink(path->c_str());
  }
  return 0;
}
