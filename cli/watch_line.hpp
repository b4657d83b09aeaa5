// What is known of the run that this command makes, on standard error while it runs: one line that is kept up to date
// on a terminal, and a line every ten seconds elsewhere.
#pragma once

#include <thread>

namespace halcyon::cli {

/// Shows it in a thread of its own while it lives.
class WatchLine {
 public:
  WatchLine();
  ~WatchLine();
  WatchLine(const WatchLine&) = delete;
  WatchLine& operator=(const WatchLine&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace halcyon::cli
