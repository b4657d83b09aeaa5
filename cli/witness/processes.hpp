// Who the processes of a host are: their program, user, job of the batch system, and service.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cli/witness/switches.hpp"
#include "libprofile/format/witnessed.hpp"

namespace halcyon::cli {

/// The job in the path of a control group: "…/job_4711/step_0/…", "…/slurm-4711/…", "…/pbs_jobs/4711.server/…".
std::string job_in(std::string_view control_group);
/// "…/NAME.service"
std::string service_in(std::string_view control_group);

/// What is known of processes, also of those that have ended: a process has what its parent had, until it takes another
/// name.
class Processes {
 public:
  /// Of all that are there. `ancestor`: ranks below it are watched; 0: all are.
  explicit Processes(pid_t ancestor);

  void add(const Forked& forked);
  void add(const Renamed& renamed);
  /// Its name now; whoever has another one than before runs another program.
  void see(pid_t process, const std::string& name);

  std::size_t size() const { return known_.size(); }
  /// Leaves those that run now. Who runs a lot of short programs would fill the memory.
  void forget_ended();

  /// Whether it is a rank of an MPI job, by its environment, and is to be watched.
  bool is_watched(pid_t process);
  /// When all have been seen that run.
  Party party_of(pid_t process);

 private:
  struct Known {
    std::string program;
    std::string user;
    std::string job;
    std::string service;
    pid_t parent = 0;
    bool is_kernel = false;
    bool is_rank = false;
    bool is_below = false;  // the ancestor
    bool is_new = true;     // what it is has not been read since it took its name
  };
  static Known read(pid_t process);
  Known& known(pid_t process);

  const std::set<std::string>& jobs_of_ranks();
  bool is_watched(const Known& one) const { return one.is_rank && (ancestor_ == 0 || one.is_below); }

  pid_t ancestor_;
  std::map<pid_t, Known> known_;
  std::optional<std::set<std::string>> jobs_of_ranks_;
};

}  // namespace halcyon::cli
