// Since when a work needs more time, undisturbed, and whether its code or the machine changed; and, apart, since when
// more of its time is lost to others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/site/nodes.hpp"
#include "analyzer/site/site_levels.hpp"
#include "analyzer/site/site_run.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {

enum class ChangeOf : std::uint8_t {
  code,     // the work alone
  machine,  // the others, too
  unclear,  // what others did at that time does not tell the one from the other
};
constexpr std::string_view name_of(ChangeOf of) {
  return of == ChangeOf::code ? "code" : of == ChangeOf::machine ? "machine" : "unclear";
}

struct Change {
  ChangeOf of = ChangeOf::unclear;
  double day = 0.0;
  Interval day_interval;      // 90 %
  double percent = 0.0;       // so much longer the runs take afterwards
  Interval interval_percent;  // 90 %
  /// What the other works did at that time, in addition to what all of them have in common; none without others.
  std::optional<Interval> others_percent;
  std::size_t others = 0;  // works that ran before and after it on hosts of this one
  std::string label;       // words of the label that came at that time; empty if none did
};

struct LossChange {
  double day = 0.0;
  Interval day_interval;     // 90 %
  double points = 0.0;       // so many percent of the run time more are lost afterwards
  Interval interval_points;  // 90 %
};

struct WorkChanges {
  std::size_t runs = 0;
  std::vector<Change> changes;     // by day
  std::vector<LossChange> losses;  // by day
  bool drifts = false;             // somewhere it changes slowly, more than at once
};

struct WorkTrend {
  std::uint32_t work = 0;
  WorkChanges changes;
};

/// Of all works, beside the hosts: `nodes` is the ranking of the same runs.
SiteLevels levels_beside_nodes(std::span<const SiteRun> runs, const NodeRanking& nodes);

/// `nodes` and `levels` are those of the same runs. Without usable runs of the work, nothing is found.
///
/// Undisturbed times, as logarithms, less what slow hosts added (`NodeRanking::slowed`) and what the other works have
/// in common at that time (`common_time` without this work), are divided at least cost (statistics/levels.hpp): a value
/// far out costs no more than one at 3 standard deviations. A change costs 1.5 ln n for n runs: half ln n for its
/// level, ln n for its place (G. Schwarz, "Estimating the dimension of a model", Ann. Stat. 6, 1978). Where one of k
/// new versions came, its place costs only ln k. A change is dropped as drift or season if a parabola costs less near
/// it, at ln(n) / 2 a parameter. Intervals of disturbed runs may all lie too high or too low: values may lean to one
/// side by c of their own errors each, at a cost of c^2 / 2, and the error of c is in that of each size. The day is
/// where the cost of both levels is least; exp(-cost) over all places gives its interval. The size d is the difference
/// of the two weighted means, with Student's t, or that beside a common drift, each as likely as its cost says
/// (Bayesian model averaging): a drift that goes unnoticed makes the means of long stretches differ by more than the
/// change.
///
/// Whose change is it? Each other work is looked at in the same way: mean after less mean before, within its own
/// stretches of one level around that day, each run weighing as much as the hosts that it shares with this work. These
/// differences of k works have the mean m and the scatter tau (repeat/random_effects.hpp). If the machine changed, the
/// change of this work is one more draw: d - m has the variance se(d)^2 + se(m)^2 + tau^2. Beyond 98 % of such draws,
/// it is the code's, and d - m is its size. If it is not, and m is surely of the same sign, it is the machine's. All
/// else is unclear, with the interval of such a draw about d; so is a change with fewer than five others.
///
/// Changes of what the other works have in common are found in the same way, from bins of runs, and are the machine's,
/// with five others or more; their size is that of the others.
///
/// Losses: the normal scores of the ranks of `lost_share` are divided (A. Lung-Yut-Fong, C. Levy-Leduc, O. Cappe,
/// "Homogeneity and change-point detection tests for multivariate data using rank statistics", J. SFdS 156, 2015),
/// since they are skewed and often 0; their noise is that of steps between neighbours (J. von Neumann, Ann. Math. Stat.
/// 12, 1941). Sizes are differences of means, by Welch's t; those whose interval has 0 in it are no change.
WorkChanges changes_of(std::uint32_t work, std::span<const SiteRun> runs, const NodeRanking& nodes,
                       const SiteLevels& levels);

}  // namespace halcyon
