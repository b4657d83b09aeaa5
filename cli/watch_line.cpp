#include "cli/watch_line.hpp"

#include <unistd.h>

#include "cli/beside.hpp"
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/watched_jobs.hpp"
#include "report/live.hpp"

namespace halcyon::cli {

void show_watch_line(const std::stop_token& stop) {
  constexpr double between_looks = 1.0;  // s
  constexpr int looks_between_lines = 10;
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  WatchedJobs jobs({.process = getpid()});
  for (int looks = 1; waited(stop, between_looks); ++looks) {
    if (!jobs.look() || jobs.views().empty()) continue;
    const std::string words = job_words(jobs.views().front());
    if (on_terminal) {
      show_step(words);
    } else if (looks % looks_between_lines == 0) {
      tell(words);
    }
  }
  show_step("");
}

}  // namespace halcyon::cli
