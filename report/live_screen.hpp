// Running jobs on a terminal: a table, and below it the chosen job in detail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/watch/watched_job.hpp"
#include "report/text.hpp"

namespace halcyon {

enum class JobOrder : std::uint8_t { job, rate, interference, elapsed };
inline constexpr std::array<std::string_view, 4> job_order_names{"job", "rate", "interference", "elapsed time"};

/// The worst first; by job, in the order of names.
void sort_jobs(std::vector<JobView>& jobs, JobOrder order);

struct Screen {
  std::size_t columns = 80;
  std::size_t rows = 24;
  std::size_t chosen = 0;  // job, in the order given
  JobOrder order = JobOrder::job;
  double delay_seconds = 1.0;
  bool shows_help = false;
  std::string time;     // of day
  std::string message;  // in the last line
  Colour colour = Colour::never;
};

/// The state of a job, in lines of `columns` columns, without line ends.
std::vector<std::string> job_lines(const JobView& job, std::size_t columns);

/// The most important of it in one line of so many columns at most.
std::string job_in_a_line(const JobView& job, std::size_t columns);

/// Lines that fit the screen, without line ends; at most as many as it has rows.
std::vector<std::string> live_screen(const std::vector<JobView>& jobs, const Screen& screen);

}  // namespace halcyon
