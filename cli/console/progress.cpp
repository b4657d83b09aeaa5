#include "cli/console/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "cli/console/output.hpp"
#include "cli/console/terminal.hpp"
#include "report/words.hpp"

namespace halcyon::cli {

Progress::Progress(std::vector<double> expected_seconds)
    : expected_(std::move(expected_seconds)), on_terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (on_terminal_) show_step("");
}

double Progress::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Progress::begin(const std::string& which, const std::string& what) const {
  const std::string so_far = "after " + duration_text(elapsed_seconds());
  if (on_terminal_) {
    show_step(fmt::format("{}, {}: {}", which, so_far, what));
  } else {
    tell(fmt::format("{} ({}), {}", which, what, so_far));
  }
}

void Progress::begin(std::size_t run, const std::string& what) const {
  if (expected_.empty()) return begin(fmt::format("run {}", run + 1), what);
  const double elapsed = elapsed_seconds();
  const auto now = expected_.begin() + static_cast<std::ptrdiff_t>(run);
  const double done = std::accumulate(expected_.begin(), now, 0.0);
  const double left = std::accumulate(now, expected_.end(), 0.0);
  // As much faster or slower as it went so far.
  const std::string time_left = duration_text(done > 0.0 ? left * elapsed / done : left) + " left";
  if (!on_terminal_) {
    tell(fmt::format("run {} of {} ({}), about {}", run + 1, expected_.size(), what, time_left));
    return;
  }
  constexpr int width = 30;
  const int filled = static_cast<int>(std::lround(width * done / (done + left)));
  show_step(fmt::format("[{:#<{}}{:.<{}}] run {} of {}, {}: {}", "", filled, "", width - filled, run + 1,
                        expected_.size(), time_left, what));
}

void keep_what_was_written() {
  if (!can_be_rewritten(STDERR_FILENO)) return;
  // As many blanks as the line is wide: they reach into the next line unless the cursor is at the beginning of one.
  put(STDERR_FILENO, std::string(size_of_terminal(STDERR_FILENO).columns, ' ') + "\r\033[K");
}

void show_step(const std::string& what) {
  const int kept = errno;  // what failed may be told after the line is wiped
  if (can_be_rewritten(STDERR_FILENO)) {
    std::fprintf(stderr, "\r\x1b[K%s", briefly(what, size_of_terminal(STDERR_FILENO).columns - 1).c_str());
    std::fflush(stderr);
  }
  errno = kept;
}

}  // namespace halcyon::cli
