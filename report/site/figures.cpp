#include "report/site/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "analyzer/statistics/quantile.hpp"
#include "libprofile/system/utc.hpp"
#include "report/layout.hpp"
#include "report/series/figures.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace halcyon::site_figure {
namespace {

using namespace series_figure;
using svg::Scale;

constexpr double seconds_of_a_day = 86400.0;
constexpr double letter = 8.0;              // about as wide as one is
constexpr double most_days_by_day = 300.0;  // of a calendar, for days on its axis; longer ones have months

std::string utc_of(double day, const char* form) {
  return utc_text(static_cast<std::int64_t>(std::llround(day * seconds_of_a_day)), form);
}

// The first days of months, every `step` of them, from a day on.
std::vector<double> months_from(double from, double to, int step) {
  using namespace std::chrono;
  const year_month_day first{sys_days(days(static_cast<int>(std::floor(from))))};
  std::vector<double> days_of_months;
  for (year_month month = first.year() / first.month();; month += months(1)) {
    const auto day = static_cast<double>(sys_days(month / 1).time_since_epoch().count());
    if (day > to) return days_of_months;
    if (day >= from && (static_cast<unsigned>(month.month()) - 1) % static_cast<unsigned>(step) == 0)
      days_of_months.push_back(day);
  }
}

struct Calendar {
  std::vector<double> days;
  const char* form = "";
};

// Few and round, in UTC.
Calendar marks_of(double from, double to) {
  constexpr double some = 6.0;
  const double length = to - from;
  if (length > most_days_by_day) {
    constexpr double days_of_a_month = 30.4;
    for (const int step : {1, 2, 3, 6}) {
      if (length / days_of_a_month / step <= some + 1.0) return {months_from(from, to, step), "%b %Y"};
    }
    return {months_from(from, to, 12), "%b %Y"};
  }
  constexpr std::array steps{1.0 / 1440, 1.0 / 288, 1.0 / 144, 1.0 / 48, 1.0 / 24, 0.125, 0.25,
                             1.0,        2.0,       7.0,       14.0,     28.0,     56.0};
  const double step = *std::ranges::find_if(steps, [length](double each) { return length <= (some + 1.0) * each; });
  Calendar marks{.days = {}, .form = step < 1.0 ? "%d %b %H:%M" : "%d %b"};
  for (double k = std::ceil(from / step); k * step <= to; k += 1.0) marks.days.push_back(k * step);
  return marks;
}

// The values of a horizontal axis of days.
std::string calendar_values(const Frame& frame, const Scale& x) {
  const Calendar marks = marks_of(x.from_value, x.to_value);
  std::string content;
  RoomOnAxis room(frame);
  for (const double day : marks.days) {
    content += svg::line(x(day), frame.bottom, x(day), frame.bottom + 4, "axis");
    if (room.takes(x(day))) content += value_on_axis(frame, x(day), utc_of(day, marks.form));
  }
  return content;
}

Scale calendar_from(const Frame& frame, double from, double to) {
  const double margin = to > from ? 0.02 * (to - from) : 0.5;
  return {from - margin, to + margin, frame.left, frame.right()};
}

// A dashed line at a day, and a word beside it. Neighbouring words are at different heights.
std::string marked_day(const Frame& frame, const Scale& x, double day, std::string_view words, std::size_t number) {
  if (day < x.from_value || day > x.to_value) return "";
  const bool is_right = x(day) > 0.6 * frame.width;
  return svg::line(x(day), frame.top, x(day), frame.bottom, "threshold") +
         svg::text(x(day) + (is_right ? -4.0 : 4.0), frame.top + 10.0 + 16.0 * static_cast<double>(number % 3),
                   is_right ? "end" : "", words);
}

std::string percent_label(double value) { return fmt::format("{:g} %", value); }
std::string number_label(double value) { return fmt::format("{:g}", value); }
std::string seconds_label(double value) { return seconds(value); }

Scale from_zero(const Frame& frame, double most) { return {0.0, svg::nice_end(most), frame.bottom, frame.top}; }

std::string_view word_of_change(ChangeOf of) {
  return of == ChangeOf::code ? "code" : of == ChangeOf::machine ? "machine" : "unclear";
}

}  // namespace

std::string lost_along_calendar(const std::vector<PartOfCalendar>& parts, const std::string& caption) {
  if (parts.empty()) return "";
  double most = 0.0;
  for (const PartOfCalendar& part : parts) most = std::max(most, part.interval.high);
  if (!(most > 0.0)) return "";
  const auto draw = [&](const Frame& frame) {
    const Scale y = from_zero(frame, most);
    const Scale x{parts.front().from_day, parts.back().to_day, frame.left, frame.right()};
    std::string content = axes(frame, y, number_label) + calendar_values(frame, x);
    for (const PartOfCalendar& part : parts) {
      const double value = std::max(part.value, 0.0);
      const double from = x(part.from_day) + 1.0;
      const double to = std::max(from + 0.5, x(part.to_day) - 1.0);
      if (value > 0.0) content += svg::rectangle(from, y(value), to - from, y(0.0) - y(value), "disturbed");
      if (part.interval.high > part.interval.low) content += whisker(y, 0.5 * (from + to), part.interval);
    }
    return drawing(frame, std::move(content));
  };
  return figure("Node hours lost, along the calendar", draw, caption);
}

std::string slow_hosts(const std::vector<NamedEffect>& hosts, double slow_percent, const std::string& caption) {
  if (hosts.empty()) return "";
  constexpr double row = 24.0;
  const auto draw = [&](const Frame& frame) {
    const double first = std::min(200.0, frame.width / 3.0);  // names are left of it
    const double end = frame.top + row * static_cast<double>(hosts.size());
    double least = 0.0;
    double most = slow_percent;
    for (const NamedEffect& host : hosts) {
      least = std::min(least, host.effect.interval_percent.low);
      most = std::max(most, host.effect.interval_percent.high);
    }
    const double margin = 0.03 * (most - least);
    const Scale x{least - margin, most + margin, first, frame.right()};
    std::string content = svg::line(first, end, frame.right(), end, "axis");
    for (const double value : svg::ticks(x.from_value, x.to_value, 4)) {
      content += svg::line(x(value), frame.top, x(value), end, "grid") +
                 svg::text(x(value), end + 18, "soft middle", percent_label(value));
    }
    content += svg::line(x(slow_percent), frame.top, x(slow_percent), end, "threshold");
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const double at = frame.top + row * (static_cast<double>(i) + 0.5);
      const HostEffect& effect = hosts[i].effect;
      content +=
          svg::text(first - 10, at + 4, "end", briefly(hosts[i].name, static_cast<std::size_t>(first / letter))) +
          svg::line(x(effect.interval_percent.low), at, x(effect.interval_percent.high), at, "whisker") +
          svg::circle(x(effect.percent), at, 5.0, effect.is_listed ? "disturbed" : "undisturbed");
    }
    return Drawing{std::move(content), end + 28.0};
  };
  return figure("How much longer runs take on each host", draw, caption);
}

std::string course_of_host(const HostEffect& host, double slow_percent, const std::string& caption) {
  if (host.course.empty()) return "";
  Extent extent;
  extent.add(0.0);
  extent.add(slow_percent);
  for (const HostLevel& level : host.course) extent.add(level.interval_percent);
  const auto draw = [&](const Frame& frame) {
    const Scale y = extent.upwards(frame);
    const Scale x = calendar_from(frame, host.course.front().day, host.course.back().day);
    std::string content;
    if (host.since_days) {
      const double from = std::clamp(x(host.since_days->low), frame.left, frame.right());
      const double to = std::clamp(x(host.since_days->high), from + 2.0, frame.right());
      content += svg::rectangle(from, frame.top, to - from, frame.bottom - frame.top, "band red");
    }
    content += axes(frame, y, percent_label) + calendar_values(frame, x) +
               svg::line(frame.left, y(slow_percent), frame.right(), y(slow_percent), "threshold");
    for (const HostLevel& level : host.course) {
      content += whisker(y, x(level.day), level.interval_percent) +
                 svg::circle(x(level.day), y(level.percent), 4.0,
                             level.interval_percent.low > slow_percent ? "disturbed" : "undisturbed");
    }
    return drawing(frame, std::move(content));
  };
  return figure("How much longer runs took on this host, along the calendar", draw, caption);
}

std::string times_of_work(const std::vector<RunPoint>& runs, const std::vector<Change>& changes,
                          const std::string& caption) {
  if (runs.empty()) return "";
  Extent extent;
  std::vector<double> lows;
  std::vector<double> highs;
  for (const RunPoint& run : runs) {
    extent.add(run.seconds);
    lows.push_back(run.interval_seconds.low);
    highs.push_back(run.interval_seconds.high);
  }
  // A few wide intervals would leave the times no room.
  extent.add(quantile(lows, 0.1));
  extent.add(quantile(highs, 0.9));
  const auto draw = [&](const Frame& frame) {
    const Scale y = extent.upwards(frame);
    const Scale x = calendar_from(frame, runs.front().day, runs.back().day);
    std::string content = axes(frame, y, seconds_label) + calendar_values(frame, x);
    for (const RunPoint& run : runs) {
      content +=
          whisker(y, x(run.day), run.interval_seconds) + svg::circle(x(run.day), y(run.seconds), 3.0, "undisturbed");
    }
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Change& change = changes[i];
      content += marked_day(frame, x, change.day,
                            fmt::format("{}{}: {}{} %", word_of_change(change.of),
                                        change.label.empty() ? "" : " " + briefly(change.label, 24),
                                        change.percent > 0.0 ? "+" : "", decimal(change.percent, 1)),
                            i);
    }
    return drawing(frame, std::move(content));
  };
  return figure("Undisturbed times of the runs of this work, along the calendar", draw, caption);
}

std::string losses_of_work(const std::vector<RunPoint>& runs, const std::vector<LossChange>& changes,
                           const std::string& caption) {
  if (runs.empty()) return "";
  double most = 1.0;
  for (const RunPoint& run : runs) most = std::max(most, run.lost_percent);
  const auto draw = [&](const Frame& frame) {
    const Scale y = from_zero(frame, most);
    const Scale x = calendar_from(frame, runs.front().day, runs.back().day);
    std::string content = axes(frame, y, percent_label) + calendar_values(frame, x);
    for (const RunPoint& run : runs)
      content += svg::circle(x(run.day), y(std::max(run.lost_percent, 0.0)), 3.0, "disturbed");
    for (std::size_t i = 0; i < changes.size(); ++i) {
      content +=
          marked_day(frame, x, changes[i].day,
                     fmt::format("{}{} points", changes[i].points > 0.0 ? "+" : "", decimal(changes[i].points, 1)), i);
    }
    return drawing(frame, std::move(content));
  };
  return figure("What the runs of this work lost to others, along the calendar", draw, caption);
}

std::string losses_of_run(const std::vector<double>& lost, double seconds_of_part, const std::string& caption) {
  const double most = lost.empty() ? 0.0 : std::ranges::max(lost);
  if (!(most > 0.0)) return "";
  const auto draw = [&](const Frame& frame) {
    const Scale y = from_zero(frame, 100.0 * most / seconds_of_part);
    const Scale x{0.0, seconds_of_part * static_cast<double>(lost.size()), frame.left, frame.right()};
    std::string content = axes(frame, y, percent_label);
    RoomOnAxis room(frame, 1.5 * RoomOnAxis::room);  // for "12 min 30 s"
    for (const double value : svg::ticks(x.from_value, x.to_value, 5))
      if (room.takes(x(value))) content += value_on_axis(frame, x(value), duration_text(value));
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const double percent = 100.0 * std::max(lost[i], 0.0) / seconds_of_part;
      if (percent == 0.0) continue;
      const double from = x(seconds_of_part * static_cast<double>(i));
      const double to = x(seconds_of_part * static_cast<double>(i + 1));
      content += svg::rectangle(from, y(percent), std::max(0.5, 0.9 * (to - from)), y(0.0) - y(percent), "disturbed");
    }
    return drawing(frame, std::move(content));
  };
  return figure("Share of each part of the run that was lost", draw, caption);
}

}  // namespace halcyon::site_figure
