// The figures of each rank, beside its segments: gathered from the ranks when the run ends, or else from their parts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/format/packer.hpp"
#include "libprofile/format/probes.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The most bytes of a processor's model name, with its NUL.
inline constexpr std::size_t most_cpu_text = 128;

/// Times of fixed work just before and just after the run, s; 0 if not measured.
struct BackgroundTimes {
  double quantum = 0.0;  // 1 % quantile
  double mean = 0.0;
};

/// One rank's own figures, times in seconds.
struct RankFigures {
  std::array<char, 256> host{};           // NUL-ended
  std::array<char, most_cpu_text> cpu{};  // NUL-ended
  double run_time = 0.0;
  double boundary_cost = 0.0;
  double clock_resolution = 0.0;
  double nanoseconds_per_tick = 0.0;
  std::uint64_t clock_source = 0;  // a ClockSource
  std::uint64_t dropped_segments = 0;
  BackgroundTimes background_before;
  BackgroundTimes background_after;
  ProbeTimes probes_before{};
  ProbeTimes probes_after{};
  std::array<std::uint64_t, feature_count> totals{};
  EvidenceValues evidence{};
  double suspended = 0.0;  // time in which a regulator had suspended the program; not in run_time
  std::uint64_t suspensions = 0;
};

/// Visits the figures in the order in which they are sent and stored: first the names, which are long, then all others.
/// `visit(number or array of numbers)`.
template <class Figures, class Visit>
constexpr void for_each_name(Figures& figures, Visit&& visit) {
  visit(figures.host);
  visit(figures.cpu);
}
template <class Figures, class Visit>
constexpr void for_each_other_figure(Figures& figures, Visit&& visit) {
  visit(figures.run_time);
  visit(figures.boundary_cost);
  visit(figures.clock_resolution);
  visit(figures.nanoseconds_per_tick);
  visit(figures.clock_source);
  visit(figures.dropped_segments);
  for (auto* background : {&figures.background_before, &figures.background_after}) {
    visit(background->quantum);
    visit(background->mean);
  }
  for (auto* probes : {&figures.probes_before, &figures.probes_after}) {
    for (auto& probe : *probes) {
      visit(probe.best);
      visit(probe.mean);
    }
  }
  visit(figures.totals);
  visit(figures.evidence);
  visit(figures.suspended);
  visit(figures.suspensions);
}
template <class Figures, class Visit>
constexpr void for_each_figure(Figures& figures, Visit&& visit) {
  for_each_name(figures, visit);
  for_each_other_figure(figures, visit);
}

inline constexpr std::size_t rank_figures_size =
    packed_size<RankFigures>([](auto& figures, auto visit) { for_each_figure(figures, visit); });

/// The figures of a rank without a part.
RankFigures lost_rank();

/// Collects the columns over ranks, and the run's time and clock, rank by rank in order.
class RankColumns {
 public:
  void add(const RankFigures& rank) {
    add_names(rank);
    add_other_figures(rank);
  }
  void add_names(const RankFigures& rank);
  void add_other_figures(const RankFigures& rank);
  std::size_t ranks() const { return columns_.rank_run_time.size(); }

  /// Moves them into the profile. At least one rank was not a lost_rank().
  void put_into(Profile& profile);

 private:
  Profile columns_;  // only what is moved is set
  double known_ranks_ = 0.0;
  bool has_background_ = true;
  Suspension suspension_;
};

}  // namespace halcyon
