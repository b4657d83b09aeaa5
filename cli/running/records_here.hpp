// The live records of the requested running jobs on this host.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/running/complaints.hpp"
#include "libprofile/live/reader.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Which jobs: the named one, the one of a process, or all jobs of this user.
struct WhichJobs {
  std::string job;
  pid_t process = 0;  // a rank, its launcher, or a process that has started that

  bool is_one() const { return !job.empty() || process != 0; }
};

bool is_wanted(const WhichJobs& which, const live::JobNow& job);

class RecordsHere {
 public:
  explicit RecordsHere(WhichJobs which) : which_(std::move(which)) {}

  /// Opens the records of jobs that run and are not open yet. If one job was requested, only that one.
  Status find();
  std::vector<live::Reader>& readers() { return readers_; }
  /// The job has ended, or cannot be read.
  void close(const std::string& path);

  const WhichJobs& which() const { return which_; }
  Complaints& complaints() { return complaints_; }

 private:
  void open(const std::string& path);

  WhichJobs which_;
  std::vector<live::Reader> readers_;
  Complaints complaints_;
  bool had_one_ = false;
};

}  // namespace halcyon::cli
