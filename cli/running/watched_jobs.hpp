// The running jobs of this host that a command watches.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/watch/watched_job.hpp"
#include "libprofile/format/outcome.hpp"
#include "libprofile/live/reader.hpp"

namespace halcyon::cli {

/// Which jobs are watched: the named one, the one of a process, or all of this user.
struct WhichJobs {
  std::string job;
  pid_t process = 0;  // a rank, its launcher, or what has started that

  bool is_one() const { return !job.empty() || process != 0; }
};

/// Gives the calling thread a low priority: who watches should not disturb.
void give_way();

/// Whether one of its ranks is this process or descends from it.
bool belongs_to(const live::JobNow& job, pid_t process);

class WatchedJobs {
 public:
  explicit WatchedJobs(WhichJobs which) : which_(std::move(which)) {}

  /// Looks at the jobs once more. A job that has ended is in this look and in no later one. Fails where the one job
  /// cannot be read; of several, those that can be read are watched, and `complaints` says what is wrong with the
  /// others, each once.
  Status look();

  const std::vector<JobView>& views() const { return views_; }
  /// The living ranks' processes, by the index of a view.
  std::vector<pid_t> ranks_of(std::size_t view) const;
  /// What is new to be told.
  std::vector<std::string> complaints() { return std::exchange(complaints_, {}); }

 private:
  struct Record {
    live::Reader reader;
    std::unique_ptr<WatchedJob> job;
    live::JobNow now;
    bool has_ended = false;
  };
  void find(const std::string& path);
  void complain(const std::string& about);
  bool is_wanted(const live::JobNow& now) const;

  WhichJobs which_;
  std::vector<Record> records_;
  std::vector<std::string> told_;  // complaints
  std::vector<std::string> complaints_;
  std::vector<JobView> views_;
  std::vector<std::vector<pid_t>> ranks_;
};

}  // namespace halcyon::cli
