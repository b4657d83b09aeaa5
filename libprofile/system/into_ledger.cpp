#include "libprofile/system/into_ledger.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/own_executable.hpp"
#include "libprofile/system/patience.hpp"

namespace halcyon {
namespace {

std::string path_of_libexec() {
  const std::string own = own_executable();
  return own.substr(0, own.rfind('/') + 1);
}

// A program of ours that prints something when it is through.
class Child {
 public:
  explicit Child(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    output_ = Descriptor(ends[0]);
    const Descriptor of_child(ends[1]);
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
    return poll(&ended, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) != 0;
  }
  bool succeeds() const {
    int status = 0;
    return process_ > 0 && waitpid(process_, &status, 0) == process_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  Descriptor output_;
  pid_t process_ = -1;
};

}  // namespace

bool put_into_ledger(const std::string& run, const std::string& spool, bool is_awaited) {
  // Where the job has used up its memory, this ends, and not the job.
  const Descriptor badness(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr char first_to_go[] = "1000";
  if (badness) [[maybe_unused]]
    const ssize_t written = write(badness.number(), first_to_go, sizeof first_to_go - 1);
  constexpr int last = 19;
  if (!is_awaited) [[maybe_unused]]
    const int priority = nice(last);  // of this thread, and what it starts
  const std::string libexec = path_of_libexec();
  const Child adding(
      {libexec + HALCYON_BINDIR_FROM_LIBEXECDIR "/halcyon", "ledger", "add", "--spool", spool, "--", run});
  // Who asks the spool tells one that hangs from one that is slow; the row comes when it answers.
  while (is_awaited && !adding.ends_soon()) {
    const Child asking({libexec + "halcyon-keep", "", spool, "", ""});
    if (!asking.ends_soon()) return false;
    asking.succeeds();
  }
  return adding.succeeds();
}

}  // namespace halcyon
