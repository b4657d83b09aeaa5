// halcyon-write: the process that turns rank 0's frames into an HDF5 file. It is a separate process, so that HDF5 never
// enters the application: two versions of HDF5 in one process often crash.
//
// usage: halcyon-write PATH [SPOOL [remove]] <frames   Prints "ok: PATH" or "error: reason" on standard output.
//
// With SPOOL, the ledger of the site gets a row of the run by way of it, for which the command judges the profile. A
// profile that is to be removed stays where that fails: `halcyon ledger collect` tries it again.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "libprofile/format/profile_writer.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/own_executable.hpp"

namespace {

std::string path_of_command() {
  const std::string own = halcyon::own_executable();
  return own.substr(0, own.rfind('/')) + "/" HALCYON_BINDIR_FROM_LIBEXECDIR "/halcyon";
}

// Whether the row is in the spool. What the command has to say is for nobody here.
bool put_into_ledger(const std::string& profile, const char* spool) {
  const std::string command = path_of_command();
  const char* const arguments[] = {command.c_str(), "ledger", "add", "--spool", spool, "--", profile.c_str(), nullptr};
  // Where the job has used up its memory, this ends, and not the job.
  const halcyon::Descriptor badness(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr char first_to_go[] = "1000";
  if (badness) [[maybe_unused]]
    const ssize_t written = write(badness.number(), first_to_go, sizeof first_to_go - 1);
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
  const halcyon::Outcome<std::string> path = halcyon::write_profile_from_frames(0, argv[1]);
  if (path && argc > 2 && put_into_ledger(*path, argv[2]) && argc > 3) unlink(path->c_str());
  std::printf("%s\n", (path ? "ok: " + *path : "error: " + path.failure().message).c_str());
  return path ? 0 : 1;
}
