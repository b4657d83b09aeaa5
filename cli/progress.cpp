#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "cli/commands.hpp"

namespace halcyon::cli {

Progress::Progress(std::vector<double> expected_seconds)
    : expected_(std::move(expected_seconds)), bar_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (bar_) std::fputs("\r\x1b[K", stderr);
}

void Progress::begin(std::size_t step, const std::string& what) const {
  const auto now = expected_.begin() + static_cast<std::ptrdiff_t>(step);
  const double done = std::accumulate(expected_.begin(), now, 0.0);
  const double left = std::accumulate(now, expected_.end(), 0.0);
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  // As much faster or slower as it went so far.
  const std::string time_left = duration_text(done > 0.0 ? left * elapsed / done : left) + " left";
  if (!bar_) {
    tell(fmt::format("run {} of {} ({}), about {}", step + 1, expected_.size(), what, time_left));
    return;
  }
  constexpr int width = 30;
  const int filled = static_cast<int>(std::lround(width * done / (done + left)));
  // Not by fmt's own printing, which throws where a terminal has gone.
  const std::string line = fmt::format("\r\x1b[K[{:#<{}}{:.<{}}] run {} of {}, {}: {}", "", filled, "", width - filled,
                                       step + 1, expected_.size(), time_left, what);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void show_step(const std::string& what) {
  const int kept = errno;  // what failed may be told after the line is wiped
  if (isatty(STDERR_FILENO) != 0) {
    std::fprintf(stderr, "\r\x1b[K%s", one_line(what).c_str());
    std::fflush(stderr);
  }
  errno = kept;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 90) return fmt::format("{} s", whole);
  if (whole < 5400) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace halcyon::cli
