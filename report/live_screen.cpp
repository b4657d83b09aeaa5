#include "report/live_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "analyzer/judge/verdict.hpp"
#include "libprofile/system/legible.hpp"
#include "report/layout.hpp"
#include "report/live.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

// So many columns: cut, or filled up with blanks.
std::string fitted(const std::string& text, std::size_t columns) {
  std::string result;
  std::size_t used = 0;
  for (const char c : legible(text)) {
    const bool begins_character = (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
    if (begins_character && used++ == columns) break;
    result += c;
  }
  result.append(columns - std::min(columns, columns_of(result)), ' ');
  return result;
}

std::string emphasised(const std::string& text, std::string_view style, Colour colour) {
  return colour == Colour::never ? text : fmt::format("\x1b[{}m{}\x1b[0m", style, text);
}

// Few segments a second have a digit after the point.
std::string short_number(double value) { return fmt::format("{:.{}f}", value, value < 10.0 ? 1 : 0); }

constexpr std::string_view bold = "1";
constexpr std::string_view reversed = "7";
constexpr std::string_view red = "1;31";

std::string row_of(const std::string& mark, const std::array<std::string, 7>& cells) {
  constexpr std::array<std::size_t, 6> widths{12, 6, 12, 6, 22, 13};
  std::string row = mark;
  for (std::size_t i = 0; i < widths.size(); ++i) row += fitted(cells[i], widths[i] - 1) + ' ';
  return row + cells.back();
}

const std::vector<std::string> help{
    "  q          quit",
    "  up, down   choose a job; j and k do the same",
    "  s          sort by job, rate, interference or elapsed time",
    "  d          look less often: every 1, 2, 5, 10 s, and again every 1 s",
    "  h, ?       this help",
    "",
    "  RATE          undisturbed seconds done per second, now; 100 % is usual",
    "  INTERFERENCE  share of the time so far that came from outside, and its 90 % interval",
};

}  // namespace

void sort_jobs(std::vector<JobView>& jobs, JobOrder order) {
  const auto key = [order](const JobView& job) {
    switch (order) {
      case JobOrder::rate: return job.progress_rate.value_or(1e9);
      case JobOrder::interference: return job.interference ? -job.interference->percent : 1e9;
      case JobOrder::elapsed: return -job.elapsed_seconds;
      case JobOrder::job: break;
    }
    return 0.0;
  };
  std::stable_sort(jobs.begin(), jobs.end(), [&key](const JobView& a, const JobView& b) {
    return key(a) != key(b) ? key(a) < key(b) : a.job < b.job;
  });
}

std::vector<std::string> job_lines(const JobView& job, std::size_t columns) {
  std::vector<std::string> lines;
  std::istringstream in(job_text(job));
  for (std::string line; std::getline(in, line);) lines.push_back(fitted(line, columns));
  return lines;
}

std::string job_in_a_line(const JobView& job, std::size_t columns) {
  std::string line = "halcyon: " + duration_text(job.elapsed_seconds);
  // The most important comes first, and what has no room is left out.
  const auto add = [&](const std::string& words) {
    if (columns_of(line) + 2 + columns_of(words) <= columns) line += ", " + words;
  };
  if (job.state == JobState::stands_still && job.last_boundary_seconds_ago) {
    add("stands still for " + duration_text(*job.last_boundary_seconds_ago));
  } else if (job.state != JobState::running) {
    add(job.state == JobState::starting ? "no boundary yet"
                                        : std::string(job_state_names[static_cast<std::size_t>(job.state)]));
  } else if (job.progress_rate) {
    add(fmt::format("{} segments/s, rate {}", short_number(job.segments_per_second), rate_words(job)));
  }
  if (job.left_seconds && job.state != JobState::ended) add(duration_text(*job.left_seconds) + " left");
  if (!job.slowest_ranks.empty()) {
    add(fmt::format("slow: rank {}", job.slowest_ranks.front()));
  } else if (job.is_slower_than_usual) {
    add("slower than usual");
  }
  // An estimate that says nothing yet is not shown.
  if (const std::optional<InterferenceSoFar>& lost = job.interference;
      lost && verdict_within(lost->percent, lost->interval_percent) != Verdict::unknown) {
    add(fmt::format("lost {:.0f} % ({:.0f} to {:.0f})", lost->percent, lost->interval_percent.low,
                    lost->interval_percent.high));
  }
  return line;
}

std::vector<std::string> live_screen(const std::vector<JobView>& jobs, const Screen& screen) {
  std::vector<std::string> lines;
  const std::string left =
      fmt::format("halcyon watch  {}  {}, by {}, every {:g} s", screen.time, plural(jobs.size(), "job"),
                  job_order_names[static_cast<std::size_t>(screen.order)], screen.delay_seconds);
  const std::string right = "h help  q quit";
  const std::size_t room = screen.columns > right.size() + 1 ? screen.columns - right.size() : 0;
  lines.push_back(emphasised(fitted(fitted(left, room) + right, screen.columns), bold, screen.colour));

  if (screen.shows_help) {
    for (const std::string& line : help) lines.push_back(fitted(line, screen.columns));
  } else if (jobs.empty()) {
    lines.push_back(fitted("no job runs here with a live record", screen.columns));
  } else {
    constexpr std::size_t rows_of_details = 10;
    const std::size_t most =
        std::max<std::size_t>(1, screen.rows > rows_of_details ? screen.rows - rows_of_details : 1);
    const std::size_t chosen = std::min(screen.chosen, jobs.size() - 1);
    const std::size_t first = chosen >= most ? chosen - most + 1 : 0;
    lines.push_back(emphasised(
        fitted(row_of("  ", {"JOB", "RANKS", "ELAPSED", "RATE", "INTERFERENCE", "STATE", "COMMAND"}), screen.columns),
        reversed, screen.colour));
    for (std::size_t i = first; i < jobs.size() && i < first + most; ++i) {
      const JobView& job = jobs[i];
      const bool is_bad = job.state == JobState::stands_still || job.is_slower_than_usual;
      const std::string row =
          fitted(row_of(i == chosen ? "> " : "  ",
                        {job.job.empty() ? "-" : job.job, std::to_string(job.ranks), duration_text(job.elapsed_seconds),
                         rate_words(job), interference_words(job),
                         std::string(job_state_names[static_cast<std::size_t>(job.state)]), job.command}),
                 screen.columns);
      lines.push_back(is_bad ? emphasised(row, red, screen.colour) : row);
    }
    lines.emplace_back();
    for (std::string& line : job_lines(jobs[chosen], screen.columns)) lines.push_back(std::move(line));
  }
  const std::size_t rows = std::max<std::size_t>(screen.rows, 2);
  lines.resize(std::min(lines.size(), screen.message.empty() ? rows : rows - 1));
  if (!screen.message.empty()) lines.push_back(fitted(screen.message, screen.columns));
  return lines;
}

}  // namespace halcyon
