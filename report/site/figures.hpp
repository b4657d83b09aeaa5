// Figures of a site along the calendar, as SVG for its pages. Each is as wide as a page.
#pragma once

#include <string>
#include <vector>

#include "analyzer/site/changes.hpp"
#include "analyzer/site/nodes.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon::site_figure {

/// A value of a part of the calendar, in days since 1970.
struct PartOfCalendar {
  double from_day = 0.0;
  double to_day = 0.0;
  double value = 0.0;
  Interval interval;
};
/// Node hours that were lost in each part.
std::string lost_along_calendar(const std::vector<PartOfCalendar>& parts, const std::string& caption);

struct NamedEffect {
  std::string name;
  HostEffect effect;
};
/// How much longer runs take on each of some hosts, with intervals, one below the other.
std::string slow_hosts(const std::vector<NamedEffect>& hosts, double slow_percent, const std::string& caption);

/// What a host was along the calendar; the time since when it is slow is shaded.
std::string course_of_host(const HostEffect& host, double slow_percent, const std::string& caption);

/// A run of a work.
struct RunPoint {
  double day = 0.0;
  double seconds = 0.0;  // undisturbed
  Interval interval_seconds;
  double lost_percent = 0.0;  // of its run time
};
/// Undisturbed times of the runs of a work, with the days on which these changed.
std::string times_of_work(const std::vector<RunPoint>& runs, const std::vector<Change>& changes,
                          const std::string& caption);
/// What they lost to others.
std::string losses_of_work(const std::vector<RunPoint>& runs, const std::vector<LossChange>& changes,
                           const std::string& caption);

/// Seconds lost in each part of a run, and how long a part is.
std::string losses_of_run(const std::vector<double>& lost, double seconds_of_part, const std::string& caption);

}  // namespace halcyon::site_figure
