// How far the disturbance of one run displaced the medians of its groups, against another run of the same work.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/matching/group_match.hpp"
#include "analyzer/judge/analysis.hpp"

namespace halcyon {

/// The cost of continuous interference in run a compared with run b, in seconds (the paper, section 3: "the amount of
/// time the medians are displaced"): sum over the judged pairs of n_a (median_a - median_b). Negative if b was slower.
double median_displacement_seconds(const GroupedRun& a, const GroupedRun& b, const std::vector<GroupPair>& pairs);

/// Two judged groups that did the same work.
struct MatchedGroup {
  struct Side {
    std::size_t segments = 0;
    double median = 0.0;    // s
    double baseline = 0.0;  // s, by the default method
  };
  std::string site;  // of the boundary that ends its segments
  Side a;
  Side b;
  double displacement_seconds = 0.0;       // n_a (median_a - median_b)
  Interval displacement_interval_seconds;  // 90 %, for independent segments
};

/// `pair` must be judged on both sides.
MatchedGroup matched_group(const JudgedRun& a, const JudgedRun& b, const GroupPair& pair);

}  // namespace halcyon
