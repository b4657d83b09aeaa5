// The running jobs that a command watches: those of this host, or those that readers on several hosts have published.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "analyzer/watch/watched_job.hpp"
#include "cli/running/published_jobs.hpp"
#include "cli/running/records_here.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// Gives the calling thread a low priority: watching should not disturb.
void give_way();

class WatchedJobs {
 public:
  /// On this host.
  explicit WatchedJobs(WhichJobs which) : here_(std::move(which)) {}
  /// As published in the directory.
  WatchedJobs(WhichJobs which, const std::string& directory)
      : here_(std::move(which)), published_(std::make_unique<PublishedJobs>(directory)) {}

  /// Looks at the jobs once more. A job that has ended is in this look and in no later one. Fails if the only job
  /// cannot be read. If there are several, those that can be read are watched, and `complaints` says once what is wrong
  /// with each other job.
  Status look();

  const std::vector<JobView>& views() const { return views_; }
  /// The processes of the living ranks on this host, by the index of a view.
  std::vector<pid_t> ranks_of(std::size_t view) const;
  /// The new messages.
  std::vector<std::string> complaints() { return (published_ ? published_->complaints() : here_.complaints()).take(); }

 private:
  struct Watched {
    std::unique_ptr<WatchedJob> job;
    live::JobNow now;
  };
  Outcome<std::vector<live::JobNow>> jobs_here();
  Outcome<std::vector<live::JobNow>> jobs_published();
  bool is_watched(const std::string& file) const;

  RecordsHere here_;
  std::unique_ptr<PublishedJobs> published_;
  std::vector<Watched> watched_;  // in the order of views_
  std::vector<JobView> views_;
};

}  // namespace halcyon::cli
