#include "cli/running/view_beside.hpp"

#include <unistd.h>

#include <functional>

#include "cli/console/bottom_lines.hpp"
#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/terminal.hpp"
#include "cli/running/beside.hpp"
#include "cli/running/watched_jobs.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "report/live.hpp"
#include "report/live_screen.hpp"

namespace halcyon::cli {
namespace {

void look_until_stopped(const std::stop_token& stop, const std::function<void(const JobView& job)>& show) {
  constexpr double between_looks = 1.0;  // s
  WatchedJobs jobs({.process = getpid()});
  while (waited(stop, between_looks)) {
    if (jobs.look() && !jobs.views().empty()) show(jobs.views().front());
  }
}

void show_in_lines(const std::stop_token& stop) {
  constexpr double between_lines = 10.0;  // s
  double next = monotonic_seconds() + between_lines;
  look_until_stopped(stop, [&next](const JobView& job) {
    if (monotonic_seconds() < next) return;
    tell(job_words(job));
    next = monotonic_seconds() + between_lines;
  });
}

void show_on_terminal(const std::stop_token& stop) {
  BottomLines bottom(STDERR_FILENO);
  look_until_stopped(stop, [&bottom](const JobView& job) {
    const std::size_t columns = size_of_terminal(STDERR_FILENO).columns;
    std::vector<std::string> lines{std::string(columns, '-')};
    for (std::string& line : job_lines(job, columns)) lines.push_back(std::move(line));
    if (lines.size() <= bottom.room()) return bottom.show(lines);
    bottom.clear();
    show_step(job_words(job));
  });
  show_step("");
}

}  // namespace

void show_view_beside(const std::stop_token& stop) {
  give_way();
  if (can_be_rewritten(STDERR_FILENO)) {
    show_on_terminal(stop);
  } else {
    show_in_lines(stop);
  }
}

void show_line_beside(const std::stop_token& stop) {
  if (!can_be_rewritten(STDERR_FILENO)) return;
  give_way();
  BottomLines bottom(STDERR_FILENO);
  look_until_stopped(stop, [&bottom](const JobView& job) {
    const pid_t in_foreground = tcgetpgrp(STDERR_FILENO);  // below 0 where no shell divides the terminal
    if (in_foreground >= 0 && in_foreground != getpgrp()) return;
    bottom.show({job_in_a_line(job, size_of_terminal(STDERR_FILENO).columns)});
  });
}

}  // namespace halcyon::cli
