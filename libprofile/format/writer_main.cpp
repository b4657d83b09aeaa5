// halcyon-write: the process that turns rank 0's frames into an HDF5 file. It is a separate process, so that HDF5 never
// enters the application: two versions of HDF5 in one process often crash.
//
// usage: halcyon-write PATH [SPOOL [remove]] <frames   Prints "ok: PATH" or "error: reason" on standard output.
//
// With SPOOL, the ledger of the site gets a row of the run by way of it, for which the command judges the profile. Of a
// profile that is to be removed, that is done after the answer, so that the program does not wait for it: where it
// fails, or is ended with the job, the profile stays, and `halcyon ledger collect` tries it again. Nobody looks for
// others. The profile is locked meanwhile, so that the epilog of a job does not judge it, too.
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
#include <vector>

#include "libprofile/format/profile_writer.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/let_go.hpp"
#include "libprofile/system/own_executable.hpp"

namespace {

std::string path_of_command() {
  const std::string own = halcyon::own_executable();
  return own.substr(0, own.rfind('/')) + "/" HALCYON_BINDIR_FROM_LIBEXECDIR "/halcyon";
}

// All frames, in memory, to be read in place of standard input: the program must not wait for a spool that hangs before
// it has sent them. Where the system has no such files, they are read as they come.
halcyon::Descriptor frames_in_memory() {
  constexpr unsigned close_on_exec = 1;
  halcyon::Descriptor memory(static_cast<int>(syscall(SYS_memfd_create, "halcyon", close_on_exec)));
  if (!memory) return halcyon::Descriptor(dup(STDIN_FILENO));
  std::vector<char> piece(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !halcyon::write_fully(memory.number(), piece.data(), static_cast<std::size_t>(got))) break;
  }
  lseek(memory.number(), 0, SEEK_SET);
  return memory;
}

void tell_that_it_goes_on() {
  [[maybe_unused]] const ssize_t told = write(STDOUT_FILENO, &halcyon::still_writes, 1);
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
  halcyon::Descriptor frames;
  if (is_removed) {  // the launcher may wait for the end of all that the program has left to this process
    halcyon::close_all_but_streams();
    halcyon::let_go({STDERR_FILENO});
    frames = frames_in_memory();
  }
  const halcyon::Outcome<std::string> path = halcyon::write_profile_from_frames(
      frames ? frames.number() : STDIN_FILENO, argv[1], is_removed ? tell_that_it_goes_on : nullptr);
  if (path && argc > 2 && !is_removed) put_into_ledger(*path, argv[2]);
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  const bool is_told = std::fflush(stdout) == 0;
  if (!path) return 1;
  if (is_removed && !is_told) {
    unlink(path->c_str());  // the program has waited long enough, and has left its parts
  } else if (is_removed) {
    halcyon::let_go({STDIN_FILENO, STDOUT_FILENO});
    frames = halcyon::Descriptor();
    const halcyon::Descriptor profile(open(path->c_str(), O_RDWR | O_CLOEXEC));  // which a lock over NFS asks for
    if (profile) flock(profile.number(), LOCK_EX | LOCK_NB);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // else HDF5 asks for the same lock
    if (put_into_ledger(*path, argv[2])) unlink(path->c_str());
  }
  return 0;
}
