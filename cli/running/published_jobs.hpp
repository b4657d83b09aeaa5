// Jobs on several hosts, from the files that a reader on each host has published in a directory.
#pragma once

#include <string>
#include <vector>

#include "analyzer/watch/merged_jobs.hpp"
#include "cli/running/complaints.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

class PublishedJobs {
 public:
  explicit PublishedJobs(std::string directory) : directory_(std::move(directory)) {}

  /// All jobs of the directory as they are now. If a file cannot be read, its previous contents count. Fails if there
  /// is no such directory.
  Outcome<std::vector<live::JobNow>> look();

  Complaints& complaints() { return complaints_; }

 private:
  struct File {
    std::string name;
    live::PublishedJob last;
    double replaced_at = 0.0;  // by the clock of this host, s
  };
  void read(const std::string& name);

  std::string directory_;
  std::vector<File> files_;
  Complaints complaints_;
};

}  // namespace halcyon::cli
