#include "libprofile/system/helper_process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

namespace halcyon {
namespace {

// Relative to the library, in the build tree or as installed, so that an installation can be moved.
std::string path_of(const std::string& program) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&path_of), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string library(info.dli_fname);
  const std::size_t slash = library.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : library.substr(0, slash);
  const std::string built = directory + "/../libexec/halcyon/" + program;
  return access(built.c_str(), X_OK) == 0 ? built : directory + "/" HALCYON_LIBEXECDIR_FROM_PRELOADDIR "/" + program;
}

// The C library's own functions, which ThreadSanitizer does not replace as it does `clone` and `vfork`: it ends a
// program that clones itself with shared memory.
extern "C" {
int __clone(int (*)(void*), void*, int, void*, ...);  // NOLINT(bugprone-reserved-identifier)
pid_t __vfork() __attribute__((returns_twice));       // NOLINT(bugprone-reserved-identifier)
}

struct Launch {
  const char* path;
  char* const* arguments;
  char* const* environment;
  int standard_input;
  int standard_output;
  int error;  // these are set by the new process, in the shared address space
  pid_t process;
};

// Calls the kernel directly: these processes share the memory of the application, where a sanitizer, or our own
// wrappers, would take their calls for calls of the application.
int execute(void* argument) {
  auto* launch = static_cast<Launch*>(argument);
  // NOLINTBEGIN(clang-analyzer-*): posix_spawn would make a child of the application
  // This child ends at once and leaves a second one without a parent: after exec a process signals its parent at its
  // end, whatever signal clone was given.
  const pid_t child = __vfork();
  if (child == 0) {
    syscall(SYS_setsid);  // a kill of the rank's process group must not leave half a file
    if (syscall(SYS_dup3, launch->standard_input, 0, 0) >= 0 && syscall(SYS_dup3, launch->standard_output, 1, 0) >= 0) {
      const std::uint64_t none = 0;
      syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
      syscall(SYS_execve, launch->path, launch->arguments, launch->environment);
    }
    launch->error = errno;
    syscall(SYS_exit_group, 127);
  }
  if (child < 0) launch->error = errno;
  launch->process = child;
  syscall(SYS_exit_group, 0);
  return 0;
  // NOLINTEND(clang-analyzer-*)
}

// Opens a pipe whose ends do not get the number of a standard stream that the program has closed: output of the program
// must not enter the pipe.
bool open_pipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  for (int& end : ends) {
    if (end > STDERR_FILENO) continue;
    const int low = std::exchange(end, fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    const int reason = errno;
    close(low);
    errno = reason;
  }
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  const int reason = errno;
  for (const int end : ends) {
    if (end >= 0) close(end);
  }
  errno = reason;
  return false;
}

// Environment variables of the tools, which must not be preloaded into their own helpers.
bool concerns_the_tools(const char* entry) {
  return std::strncmp(entry, "LD_PRELOAD=", 11) == 0 || std::strncmp(entry, "HALCYON_", 8) == 0 ||
         std::strncmp(entry, "INTM_", 5) == 0;
}

}  // namespace

bool HelperProcess::start(const std::string& name, const std::vector<std::string>& words, std::string& error) {
  int to_helper[2];
  int from_helper[2];
  if (!open_pipe(to_helper)) {
    error = std::strerror(errno);
    return false;
  }
  if (!open_pipe(from_helper)) {
    error = std::strerror(errno);
    close(to_helper[0]);
    close(to_helper[1]);
    return false;
  }
  const std::string program = path_of(name);
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!concerns_the_tools(*entry)) environment.push_back(*entry);
  }
  environment.push_back(nullptr);

  Launch launch{program.c_str(), arguments.data(), environment.data(), to_helper[0], from_helper[1], 0, -1};
  // clone instead of fork: the intermediate process ends without a signal, no atfork handlers of the MPI library run,
  // and the application's pages are shared, not copied, until the exec.
  constexpr auto stack_bytes = std::size_t{64} * 1024;
  void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  pid_t between = -1;
  if (stack != MAP_FAILED) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);  // no handler of the application may run in the shared address space
    between = __clone(execute, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK, &launch);
    if (between < 0) launch.error = errno;
    while (between > 0 && waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    munmap(stack, stack_bytes);
  } else {
    launch.error = errno;
  }
  close(to_helper[0]);
  close(from_helper[1]);
  input_ = to_helper[1];
  output_ = from_helper[0];
  process_ = launch.process;
  if (launch.error == 0) return true;
  error = "cannot start " + program + ": " + std::strerror(launch.error);
  hang_up();
  return false;
}

void HelperProcess::hang_up() {
  for (int* end : {&input_, &output_}) {
    if (*end >= 0) close(*end);
    *end = -1;  // the number may soon be another file's
  }
}

std::optional<std::string> HelperProcess::answer(std::optional<std::chrono::milliseconds> longest_silence) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  if (input_ >= 0) close(std::exchange(input_, -1));
  std::string answer;
  char piece[256];
  steady_clock::time_point heard = steady_clock::now();
  for (;;) {
    if (longest_silence) {
      const milliseconds silence = std::chrono::duration_cast<milliseconds>(steady_clock::now() - heard);
      const milliseconds left = std::max(*longest_silence - silence, milliseconds(0));
      pollfd ready{output_, POLLIN, 0};
      const int found = poll(&ready, 1, static_cast<int>(left.count()));
      if (found < 0 && errno == EINTR) continue;
      if (found == 0) {
        hang_up();
        return std::nullopt;
      }
    }
    const ssize_t got = read(output_, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    heard = steady_clock::now();
    answer.append(piece, static_cast<std::size_t>(got));
  }
  hang_up();
  if (answer.ends_with('\n')) answer.pop_back();  // and no other one: names of files may end with it
  return answer;
}

void HelperProcess::kill() const {
  if (process_ > 0) syscall(SYS_kill, process_, SIGKILL);
}

}  // namespace halcyon
