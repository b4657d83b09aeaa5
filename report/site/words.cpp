#include "report/site/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "libprofile/system/plural.hpp"
#include "libprofile/system/utc.hpp"
#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr double seconds_of_a_day = 86400.0;
constexpr std::size_t widest_name = 24;

// "since 2026-11-14 (2026-11-12 to 2026-11-15; then v2 came)"
std::string since_words(double day, const Interval& days, std::string also = "") {
  const std::string first = day_words(days.low);
  const std::string last = day_words(days.high);
  if (first != last) also = fmt::format("{} to {}{}", first, last, also.empty() ? "" : "; " + also);
  return fmt::format("since {}{}", day_words(day), also.empty() ? "" : " (" + also + ")");
}

std::string more_or_less(double value, const Interval& interval, std::string_view unit) {
  const bool is_more = value >= 0.0;
  const Interval size = is_more ? interval : Interval{-interval.high, -interval.low};
  return fmt::format("{} {} ({} to {}) {}", decimal(std::abs(value), 1), unit, decimal(size.low, 1),
                     decimal(size.high, 1), is_more ? "more" : "less");
}

}  // namespace

std::string when_words(std::int64_t nanoseconds, bool also_time) {
  return utc_text(nanoseconds / ledger::nanoseconds_of_a_second, also_time ? "%Y-%m-%d %H:%M" : "%Y-%m-%d");
}

std::string day_words(double day) {
  return utc_text(static_cast<std::int64_t>(std::floor(day * seconds_of_a_day)), "%Y-%m-%d");
}

std::string percent_words(double percent, const Interval& interval) {
  return fmt::format("{} ({} to {})", decimal(percent, 1), decimal(interval.low, 1), decimal(interval.high, 1));
}

std::string hours_words(double hours) {
  const double size = std::abs(hours);
  return decimal(hours, size >= 1000.0 ? 0 : size >= 10.0 ? 1 : size >= 0.1 || size == 0.0 ? 2 : size >= 0.01 ? 3 : 4);
}

std::string lost_words(const ledger::Loss& loss) {
  return fmt::format("{} ({} to {})", hours_words(loss.lost_node_hours), hours_words(loss.low_node_hours),
                     hours_words(loss.high_node_hours));
}

std::string lost_share_words(const ledger::Loss& loss) {
  return loss.judged_node_hours > 0.0 ? decimal(100.0 * loss.lost_node_hours / loss.judged_node_hours, 1) : "-";
}

std::string slow_since_words(const HostEffect& host) {
  if (!host.is_listed) return "-";
  if (!host.since_days) return "before its first run";
  const std::string first = day_words(host.since_days->low);
  const std::string last = day_words(host.since_days->high);
  return first == last ? "on " + first : fmt::format("between {} and {}", first, last);
}

bool has_clusters(const ledger::SiteHistory& history) {
  return std::ranges::any_of(
      history.hosts, [&](const ledger::SiteHost& host) { return host.cluster != history.hosts.front().cluster; });
}

std::map<std::string, std::string> names_to_exclude(const ledger::SiteHistory& history, const NodeRanking& ranking) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '.' || letter == '-' || letter == '_';
  };
  std::map<std::string, std::string> names;
  for (const HostEffect& one : ranking.hosts) {
    const ledger::SiteHost& host = history.hosts[one.host];
    if (!one.is_listed || host.name.starts_with('-') || !std::ranges::all_of(host.name, is_plain)) continue;
    std::string& of_cluster = names[host.cluster];
    of_cluster += (of_cluster.empty() ? "" : ",") + host.name;
  }
  return names;
}

std::string change_words(const Change& change) {
  const std::string since =
      since_words(change.day, change.day_interval,
                  change.label.empty() ? "" : "then " + briefly(change.label, widest_name) + " came");
  const std::string size = more_or_less(change.percent, change.interval_percent, "%");
  const std::string others =
      change.others_percent
          ? fmt::format("{} in the meantime: {} to {} %", plural(change.others, "other work"),
                        decimal(change.others_percent->low, 1), decimal(change.others_percent->high, 1))
          : fmt::format("{} ran before and after it on its hosts", plural(change.others, "other work"));
  switch (change.of) {
    case ChangeOf::code: {
      const bool is_machine_still = change.others_percent && !excludes_zero(*change.others_percent);
      return fmt::format("{} the code needs {}; {} ({})", since, size,
                         is_machine_still ? "the machine did not change" : "what the machine did is not in that",
                         others);
    }
    case ChangeOf::machine:
      return fmt::format("{} the machine makes it need {}; not its code ({})", since, size, others);
    case ChangeOf::unclear:
      return fmt::format("{} it needs {}; whether the code or the machine changed cannot be told ({})", since, size,
                         others);
  }
  return since;
}

std::string loss_change_words(const LossChange& change) {
  return fmt::format("{} it loses {} of its run time to others", since_words(change.day, change.day_interval),
                     more_or_less(change.points, change.interval_points, "points"));
}

std::string left_out_words(const ledger::SiteHistory& history) {
  if (history.left_out == 0) return "";
  return fmt::format("Left out: {} without an estimate, a regular end or names of hosts.\n",
                     plural(history.left_out, "run"));
}

std::string shown_name(const ledger::PastRun& run) {
  if (run.run.user_name.empty() && run.run.job.empty() && run.work.program.empty()) return "another user's run";
  std::vector<std::string> words;
  words.push_back(run.run.job.empty() ? "run " + run.run.key.substr(0, 8) : "job " + run.run.job);
  if (!run.work.program.empty()) words.push_back(run.work.program);
  if (!run.run.user_name.empty()) words.push_back("of " + run.run.user_name);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string shown_name(const ledger::SiteHistory& history, const ledger::SiteHost& host) {
  return has_clusters(history) && !host.cluster.empty() ? host.cluster + " " + host.name : host.name;
}

std::string shown_name(ledger::By by, const ledger::Loss& loss) {
  if (!loss.name.empty()) return loss.name;
  return by == ledger::By::cause ? "no cause is clear" : "(none)";
}

std::string shown_name(const ledger::WorkRow& work) {
  return work.command.empty() ? "another user's work" : work.command;
}

}  // namespace halcyon
