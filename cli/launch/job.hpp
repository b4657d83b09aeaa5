// One started program: from its start to its end, several at a time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "cli/launch/program.hpp"
#include "cli/launch/rank_environment.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

struct JobRequest {
  Words words;
  Environment environment;       // added to that of this process
  bool without_preload = false;  // without LD_PRELOAD of this process
  int output = -1;               // file descriptor for its output; it then has no input; -1: it uses our streams
  int inherited = -1;            // file descriptor that it keeps open as long as it runs; -1: none
  bool own_group = false;  // its own process group: signals of the terminal do not reach it, ours reach the whole group
};

struct JobEnd {
  int status = 0;  // exit status, or 128 + signal, as in shells
  int signal = 0;  // that ended it, or 0
};

/// A child process. Nothing else may wait for it.
class Job {
 public:
  /// Returns when the program runs. A failure says why it could not be started.
  static Outcome<Job> start(const JobRequest& request);
  Job(Job&& other) noexcept;
  Job& operator=(Job&&) = delete;
  /// Kills the program if it still runs.
  ~Job();

  Outcome<JobEnd> wait();
  /// Nothing if it still runs after `seconds`; with 0 it does not wait. A signal to this process may end the wait
  /// early.
  Outcome<std::optional<JobEnd>> wait(double seconds);

  /// Does nothing after the end of the program. The ranks of mpirun have their own process groups: Open MPI's mpirun
  /// passes SIGTSTP and SIGCONT on to them, and Hydra does not.
  void signal(int number) const;
  /// The argument of kill(): its process or, as a negative number, its group. 0 after its end.
  pid_t address() const;

 private:
  Job(pid_t process, bool own_group) : process_(process), own_group_(own_group) {}
  Outcome<std::optional<JobEnd>> look(int options);

  pid_t process_;
  bool own_group_;
  std::optional<JobEnd> end_;
};

/// The standard output and standard error of a program; empty if it cannot be started.
std::string output_of(const Words& command, const Environment& environment = {});

}  // namespace halcyon::cli
