// A run of any length in few enough numbers for a figure: along time, by rank, and by duration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The segments that begin in one of many equal parts of the run. Parts in which none begins have no slot.
struct TimeSlot {
  double begin_seconds = 0.0;  // of its first segment, since the first segment of the run
  std::uint64_t segments = 0;
  std::uint64_t disturbed = 0;     // of them, beyond their group's threshold
  float shortest = 0.0F;           // s, of the undisturbed ones
  float longest = 0.0F;            // s, the same; 0 if all are disturbed
  float longest_disturbed = 0.0F;  // s; 0 if none is
};

/// How long ranks held the others up, by rank and time.
struct LatenessMap {
  std::uint32_t ranks_in_row = 1;  // neighbouring ranks share a row if there are many
  std::size_t rows = 0;
  std::size_t columns = 0;      // equal parts of the run
  std::vector<double> seconds;  // (rows * columns) s of excess in segments in which a rank of the row came last
  // If ranks share rows: single ranks that lost a large part of the excess, the worst first.
  std::vector<std::uint32_t> worst_ranks;
  std::vector<double> worst_seconds;  // (worst ranks * columns) s, also in the rows of their neighbours
};

/// Numbers of segments by duration; edges are spaced evenly, on a logarithmic scale if the durations differ widely.
struct Histogram {
  bool logarithmic = false;
  double from_seconds = 0.0;
  double to_seconds = 0.0;
  std::vector<std::uint64_t> undisturbed;  // (bins)
  std::vector<std::uint64_t> disturbed;    // (bins) beyond their group's threshold

  double edge(std::size_t bin) const;  // s, lower edge; of bin = bins the upper one of the last
};

/// A judged group, with the result of the method used for the verdict.
struct GroupOverview {
  JudgedGroup judged;
  std::string site;  // of the boundary that ends its segments
  std::uint64_t segments = 0;
  std::uint64_t disturbed = 0;
  double seconds = 0.0;  // of all its segments
  double excess_seconds = 0.0;
  Histogram histogram;
};

struct Overview {
  double seconds = 0.0;  // of all segments
  std::vector<TimeSlot> slots;
  LatenessMap lateness;
  Histogram durations;                // of all segments
  std::vector<GroupOverview> groups;  // those that lost most, then those that took most time
};

/// How much fits on a page.
struct OverviewSize {
  std::size_t slots = 2000;
  std::size_t map_rows = 64;
  std::size_t map_columns = 120;
  std::size_t map_worst_ranks = 8;
  std::size_t bins = 60;
  std::size_t groups = 6;
};

/// `grouping` and `analysis` are the profile's.
Overview overview_of(const Profile& profile, const Grouping& grouping, const Analysis& analysis,
                     const OverviewSize& size = {});

}  // namespace halcyon
