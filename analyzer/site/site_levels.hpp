// The usual time of each work of a site, and what all works have in common, along the calendar.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/site/site_run.hpp"

namespace halcyon {

/// ln of factors that all works have in common, along the calendar: seasons, a new compiler, a slower file system.
struct CommonTime {
  std::vector<double> begins;      // (bins) days, ascending; a bin ends where the next one begins
  std::vector<double> values;      // (bins)
  std::vector<double> errors;      // (bins) standard errors
  std::vector<double> own_errors;  // (bins) mean of the errors of its runs

  /// The bin of a day; needs at least one bin. A day before the first bin is in the first one.
  std::size_t bin_of(double day) const;
  /// Half of the larger difference to a neighbour: what a run of that bin may be off by, since changes come within
  /// bins.
  double change_near(std::size_t bin) const;
};

/// The runs of a site, along the calendar, with what is known of them beside their hosts. Vectors: (runs).
struct SiteLevels {
  std::vector<std::size_t> order;    // the usable runs, by day
  std::vector<std::size_t> stretch;  // of one level of one work: numbers over all works
  std::vector<double> level;         // of that stretch
  std::vector<double> common;        // at that time
  std::vector<std::size_t> bin;      // of the common time: numbers over all parts of the site
  std::vector<double> deviation;     // standard deviation of a run's value about level + common
  std::vector<double> scatter;       // (works) of its runs in addition to their errors: tau
  std::vector<std::size_t> part;     // (works) of the site: `parts_of_site`
  std::size_t stretches = 0;
  std::size_t bins = 0;
};

/// (works) The parts of a site, as numbers from 0 on: works that use the same hosts, directly or by way of others, are
/// in one part. What strikes some hosts, such as those of a partition, strikes works that use them. Fewer than five
/// works (`default_least_runs`) do not show what is common to them, and count with the largest part.
std::vector<std::size_t> parts_of_site(std::span<const SiteRun> runs);

/// The scatter of consecutive values in addition to their own errors: the median of |step| / sqrt(e^2 + f^2 + 2 tau^2),
/// with e and f the errors of the two neighbours, is that of normal values, 0.6745. Steps hardly know changes of the
/// level. None with fewer than two steps.
std::optional<double> scatter_of_steps(std::span<const double> values, std::span<const double> errors);

/// What works of a part have in common: of bins of 25 consecutive runs, the mean over runs of `left` (runs; values less
/// the levels of works), in which each work has one vote; of those within 3 standard deviations of the median.
CommonTime common_time(std::span<const SiteRun> runs, const SiteLevels& levels, std::span<const double> left,
                       std::size_t part, std::optional<std::uint32_t> without_work = std::nullopt);

/// value = level of the work in its stretch + what works of its part have in common + noise, by turns (backfitting; A.
/// Buja, T. Hastie, R. Tibshirani, "Linear smoothers and additive models", Ann. Stat. 17, 1989). A stretch of a work
/// ends where another division of its series costs less (statistics/levels.hpp). `values` and `errors` (runs) are
/// logarithms of times, less what slow hosts added; `errors` are those of the times and of what was subtracted.
SiteLevels site_levels(std::span<const SiteRun> runs, std::span<const double> values, std::span<const double> errors);

}  // namespace halcyon
