// Which hosts of a site are slower than the others, over all runs and works, and since when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/site/site_run.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

struct NodeSettings {
  double slow_percent = 1.0;             // a host is slow if a run takes that much longer because of it
  double most_false_discoveries = 0.05;  // the expected share of hosts in the list that are not slow
  std::size_t points_of_course = 0;      // of each host, along the calendar; 0: only where they are at the end
  std::function<void(double share_done)> progress = [](double) {};
};

/// What a host was at some time.
struct HostLevel {
  double day = 0.0;
  double percent = 0.0;  // as in HostEffect
  Interval interval_percent;
};

/// A host as it was at the end of the records.
struct HostEffect {
  std::uint32_t host = 0;
  std::size_t runs = 0;
  double percent = 0.0;                // so much more a run takes on it than on the middle host: posterior median
  Interval interval_percent;           // 90 %
  double chance_slow = 0.0;            // that it is beyond `slow_percent`
  bool is_listed = false;              // among the hosts that are told to be slow
  std::optional<Interval> since_days;  // if listed: when it became slow, 90 %; none: before its first run
  std::vector<HostLevel> course;       // if asked for: at equal distances, from its first run to its last one
};

struct NodeRanking {
  std::vector<HostEffect> hosts;  // that had runs: the most surely slow ones first, then the slowest ones
  /// (runs) ln of the factor by which its slowest host made a run longer than the middle host of that time: mean.
  std::vector<double> slowed;
  std::vector<double> slowed_error;  // (runs) standard deviation of that
  std::size_t left_out = 0;          // runs that are not usable (`is_usable`)
};

/// Crossed random effects of hosts, works and time:
///
///   run time known:      ln T_i  = c_w(t_i) + g(t_i) + max over hosts h of b_h(t_i) + r_i max of l_h(t_i) + e_i
///   times of its hosts:  ln T_ih = u_i + b_h(t_i) + e_ih
///
/// with the level c of the work, what all works have in common g (site_levels.hpp), and the effect of a host b, which
/// stays until it changes. A program of ranks that wait for each other is as slow as its slowest host: hence the
/// maximum. e is normal with the run's own error and the work's scatter, and no value costs more than one at 3 standard
/// deviations, since some intervals of undisturbed times are wrong. Where a neighbour disturbs runs on a host, they are
/// less sure than usual ones of their works, and may all be wrong to one side: by l_h, normal about 0, times r_i, the
/// root of s_i^2 less the square of the work's median error, or 0. The levels that b takes are draws of one
/// distribution: normal about 0 for most of them, for a share exponential, above 0, and for another one below. Its
/// parameters, and how often hosts change, are estimated from all hosts together (empirical Bayes).
///
/// The posterior is sampled. The course of a host, given the others, is a hidden Markov chain on a grid of levels,
/// drawn as a whole (S. L. Scott, "Bayesian methods for hidden Markov models", J. Am. Stat. Assoc. 97, 2002); then each
/// of its levels and leans is drawn between its neighbours on the grid.
///
/// Hosts are listed as long as the mean chance that one in the list is not slow stays below the limit (B. Efron,
/// "Size, power and false discovery rates", Ann. Stat. 35, 2007; P. Müller, G. Parmigiani, C. Robert, J. Rousseau,
/// "Optimal sample size for multiple testing", J. Am. Stat. Assoc. 99, 2004). Benjamini and Hochberg's rule needs a p
/// value a host; a host that is never the slowest of its runs has none, and those of hosts that share runs depend on
/// each other.
///
/// Takes time in proportion to the runs times their hosts.
NodeRanking rank_nodes(std::span<const SiteRun> runs, const NodeSettings& settings = {});

}  // namespace halcyon
