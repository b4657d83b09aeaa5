#include "report/live.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/exposition.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

constexpr double sparkline_seconds = 300.0;
constexpr std::size_t sparkline_columns = 30;
constexpr double least_device_percent = 1.0;

std::string_view name_of(JobState state) { return job_state_names[static_cast<std::size_t>(state)]; }

std::string ranks_words(const std::vector<std::uint32_t>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

std::string verb(const std::vector<std::uint32_t>& ranks, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", ranks_words(ranks), ranks.size() == 1 ? one : several);
}

std::string state_words(const JobView& job) {
  const std::string after = duration_text(job.elapsed_seconds);
  std::string words;
  switch (job.state) {
    case JobState::starting: words = fmt::format("no boundary yet, after {}", after); break;
    case JobState::running: words = fmt::format("running for {}", after); break;
    case JobState::stands_still:
      words = fmt::format("stands still for {}",
                          duration_text(job.last_boundary_seconds_ago.value_or(job.elapsed_seconds)));
      break;
    case JobState::suspended: words = fmt::format("suspended, after {}", after); break;
    case JobState::ended: words = fmt::format("ended after {}", after); break;
  }
  if (!job.stopped_ranks.empty()) words += ", " + verb(job.stopped_ranks, "is", "are") + " stopped by a signal";
  if (!job.dead_ranks.empty() && job.state != JobState::ended) {
    words += ", " + verb(job.dead_ranks, "has", "have") + " died";
  }
  if (job.ranks_read < job.ranks)
    return fmt::format("{}, {} of {} read", words, job.ranks_read, plural(job.ranks, "rank"));
  return words + ", " + plural(job.ranks, "rank");
}

std::string stale_words(const JobView& job) {
  constexpr std::size_t most = 4;
  std::vector<std::string> words;
  for (const StaleHost& host : job.stale_hosts) {
    if (words.size() == most) {
      words.push_back(fmt::format("{} more", job.stale_hosts.size() - most));
      break;
    }
    words.push_back(fmt::format("{} for {}", host.name, duration_text(host.seconds)));
  }
  return fmt::format("{}: does halcyon watch --publish run there?", fmt::join(words, ", "));
}

std::string slowest_words(const JobView& job) {
  std::string words =
      fmt::format("{} on {}: the others wait {:.0f} % of their time", fmt::join(job.slowest_ranks, ", "),
                  fmt::join(job.slowest_hosts, ", "), job.waiting_percent);
  if (job.slowest) {
    words += fmt::format("; rank {} computes {} as long as they, for {} the {}", job.slowest_ranks.front(),
                         times_words(job.slowest->time), times_words(job.slowest->work),
                         job.slowest->work_is_time ? "CPU time" : "counted work");
  }
  return words;
}

// What the job is called where nothing told its name.
std::string title_of(const JobView& job) {
  return fmt::format("{} on {}", job.job.empty() ? "job without a name" : "job " + job.job, hosts_words(job));
}

ordered_json stale_names(const JobView& job) {
  ordered_json names = ordered_json::array();
  for (const StaleHost& host : job.stale_hosts) names.push_back(host.name);
  return names;
}

ordered_json or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); }

}  // namespace

std::string hosts_words(const JobView& job) {
  constexpr std::size_t most = 4;
  if (job.hosts.size() > most) return plural(job.hosts.size(), "host");
  return fmt::format("{}", fmt::join(job.hosts, ", "));
}

std::string rate_words(const JobView& job) {
  return job.progress_rate ? fmt::format("{:.0f} %", 100.0 * *job.progress_rate) : "-";
}

std::string interference_words(const JobView& job) {
  if (!job.interference) return "-";
  const Interval& interval = job.interference->interval_percent;
  return fmt::format("{} % ({} to {})", decimal(job.interference->percent, 1), decimal(interval.low, 1),
                     decimal(interval.high, 1));
}

std::string sparkline(const std::vector<RateAt>& history, double now_seconds, std::size_t columns) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double usual_block = 6.0;  // the last but one
  std::vector<double> sums(columns, 0.0);
  std::vector<int> counts(columns, 0);
  for (const RateAt& at : history) {
    const double age = (now_seconds - at.seconds) / sparkline_seconds * static_cast<double>(columns);
    if (age < 0.0 || age >= static_cast<double>(columns)) continue;
    const std::size_t column = columns - 1 - static_cast<std::size_t>(age);
    sums[column] += at.rate;
    ++counts[column];
  }
  std::string line;
  for (std::size_t column = 0; column < columns; ++column) {
    if (counts[column] == 0) {
      line += ' ';
      continue;
    }
    const double block = std::clamp(std::round(usual_block * sums[column] / counts[column]), 0.0, 7.0);
    line += blocks[static_cast<std::size_t>(block)];
  }
  return line;
}

std::string job_text(const JobView& job) {
  std::string text = filled("", 2, title_of(job) + (job.command.empty() ? "" : ": " + command_words(job.command)));
  text += wrapped("state", state_words(job));
  if (!job.stale_hosts.empty()) text += wrapped("nothing heard of", stale_words(job));
  if (job.progress_rate) {
    std::string line = sparkline(job.history, job.elapsed_seconds, sparkline_columns);
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    text += wrapped("rate now", fmt::format("{} of the usual{}{}", rate_words(job),
                                            job.is_slower_than_usual ? ", slower than usual" : "",
                                            job.history.size() > 1 ? "  " + line : ""));
  }
  if (job.interference) {
    text +=
        wrapped("interference",
                fmt::format("{} % so far (90 % interval {} to {}), from {:.0f} % of the time",
                            decimal(job.interference->percent, 1), decimal(job.interference->interval_percent.low, 1),
                            decimal(job.interference->interval_percent.high, 1), job.interference->coverage_percent));
  } else {
    text += wrapped("interference", "not known yet: too few segments repeat");
  }
  if (job.left_seconds && job.state != JobState::ended) {
    text += wrapped("left", fmt::format("{} at the usual rate, known from {}", duration_text(*job.left_seconds),
                                        plural(job.known_runs, "earlier run")));
  }
  if (job.device_percent >= least_device_percent) {
    text += wrapped("devices", fmt::format("the ranks wait {:.0f} % of their time for devices", job.device_percent));
  }
  if (!job.slowest_ranks.empty()) text += wrapped("slowest ranks", slowest_words(job));
  if (job.last_boundary_seconds_ago) {
    const std::string place = job.last_place.empty() ? "" : ", " + job.last_place;
    const std::string who = job.last_rank ? fmt::format("; rank {} came last", *job.last_rank) : "";
    text += wrapped("last boundary", seconds(*job.last_boundary_seconds_ago) + " ago" + place + who);
  }
  return text;
}

std::string jobs_text(const std::vector<JobView>& jobs) {
  std::string text;
  for (const JobView& job : jobs) text += (text.empty() ? "" : "\n") + job_text(job);
  return text;
}

std::string job_words(const JobView& job) {
  const std::string silent =
      job.stale_hosts.empty() ? "" : fmt::format(", nothing heard of {}", plural(job.stale_hosts.size(), "host"));
  return fmt::format("{}{}; rate {}, interference {}", state_words(job), silent, rate_words(job),
                     interference_words(job));
}

std::string job_line(const JobView& job) { return title_of(job) + ": " + job_words(job); }

ordered_json jobs_json(const std::vector<JobView>& jobs) {
  ordered_json list = ordered_json::array();
  for (const JobView& job : jobs) {
    list.push_back(
        {{"job", job.job},
         {"command", job.command},
         {"ranks", job.ranks},
         {"ranks_read", job.ranks_read},
         {"hosts", job.hosts},
         {"stale_hosts", stale_names(job)},
         {"elapsed_seconds", job.elapsed_seconds},
         {"progress_rate", or_null(job.progress_rate)},
         {"slower_than_usual", job.is_slower_than_usual},
         {"interference_percent", job.interference ? ordered_json(job.interference->percent) : ordered_json()},
         {"interference_interval_percent",
          job.interference ? interval_json(job.interference->interval_percent) : ordered_json()},
         {"coverage_percent", job.interference ? job.interference->coverage_percent : 0.0},
         {"left_seconds", or_null(job.left_seconds)},
         {"slowest_ranks", job.slowest_ranks},
         {"slowest_hosts", job.slowest_hosts},
         {"slowest_times_as_long", job.slowest ? ordered_json(job.slowest->time) : ordered_json()},
         {"slowest_times_the_work", job.slowest ? ordered_json(job.slowest->work) : ordered_json()},
         {"work_is_cpu_time", job.slowest ? ordered_json(job.slowest->work_is_time) : ordered_json()},
         {"device_percent", job.device_percent},
         {"last_boundary", job.last_place},
         {"last_boundary_seconds_ago", or_null(job.last_boundary_seconds_ago)},
         {"last_rank", job.last_rank ? ordered_json(*job.last_rank) : ordered_json()},
         {"stopped_ranks", job.stopped_ranks},
         {"dead_ranks", job.dead_ranks},
         {"state", name_of(job.state)}});
  }
  return list;
}

std::string jobs_openmetrics(const std::vector<JobView>& jobs) {
  Exposition exposition;
  using Value = std::optional<double> (*)(const JobView& job);
  const auto add = [&](std::string_view metric, std::string_view description, Value value) {
    exposition.begin(metric, description);
    for (const JobView& job : jobs) {
      if (const std::optional<double> known = value(job)) {
        exposition.sample(*known, {{"job", job.job}, {"host", hosts_words(job)}, {"command", job.command}});
      }
    }
  };
  add("job_ranks", "ranks of a running job", [](const JobView& job) { return std::optional<double>(job.ranks); });
  add("job_elapsed_seconds", "time since the job began",
      [](const JobView& job) { return std::optional(job.elapsed_seconds); });
  add("job_progress_ratio", "undisturbed seconds done per second",
      [](const JobView& job) { return job.progress_rate; });
  add("job_interference_ratio", "share of the time so far that came from outside", [](const JobView& job) {
    return job.interference ? std::optional(0.01 * job.interference->percent) : std::nullopt;
  });
  add("job_interference_low_ratio", "lower end of its 90 % interval", [](const JobView& job) {
    return job.interference ? std::optional(0.01 * job.interference->interval_percent.low) : std::nullopt;
  });
  add("job_interference_high_ratio", "upper end of its 90 % interval", [](const JobView& job) {
    return job.interference ? std::optional(0.01 * job.interference->interval_percent.high) : std::nullopt;
  });
  add("job_left_seconds", "best time of earlier runs for the remaining segments",
      [](const JobView& job) { return job.left_seconds; });
  add("job_last_boundary_seconds", "time since the last boundary",
      [](const JobView& job) { return job.last_boundary_seconds_ago; });
  add("job_stands_still", "1 if the job stands still, else 0",
      [](const JobView& job) { return std::optional(job.state == JobState::stands_still ? 1.0 : 0.0); });
  return exposition.end();
}

}  // namespace halcyon
