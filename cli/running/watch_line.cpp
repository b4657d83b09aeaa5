#include "cli/running/watch_line.hpp"

#include <unistd.h>

#include <chrono>

#include "cli/running/beside.hpp"
#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/running/watched_jobs.hpp"
#include "report/live.hpp"

namespace halcyon::cli {

void show_watch_line(const std::stop_token& stop) {
  constexpr double between_looks = 1.0;  // s
  constexpr std::chrono::seconds between_lines{10};
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  give_way();
  WatchedJobs jobs({.process = getpid()});
  auto last_line = std::chrono::steady_clock::now();
  while (waited(stop, between_looks)) {
    if (!jobs.look() || jobs.views().empty()) continue;
    const std::string words = job_words(jobs.views().front());
    if (on_terminal) {
      show_step(words);
    } else if (std::chrono::steady_clock::now() - last_line >= between_lines) {
      tell(words);
      last_line = std::chrono::steady_clock::now();
    }
  }
  show_step("");
}

}  // namespace halcyon::cli
