// Counts of a group's durations between order statistics: what laws are fitted to.
#pragma once

#include <span>
#include <vector>

namespace halcyon {

/// Share of the segments that are counted by their duration; the others are only "longer".
constexpr double counted_share = 0.97;
/// Share of the segments that may be anywhere: a little other work in the group must not decide.
constexpr double stray_share = 0.002;

/// Counts of a group's durations in cells. A law is fitted to their left and middle. Durations beyond the last edge
/// only count as "longer".
struct Cells {
  std::vector<double> edges;   // s
  std::vector<double> counts;  // one more than edges: the last one counts what is longer
  double segments = 0.0;
  double mean = 0.0;    // s
  double finest = 0.0;  // s, the smallest difference that can be measured
  double low = 0.0;     // s, a tenth of the segments is shorter
  double middle = 0.0;  // s
};

/// `ascending`: durations, s.
Cells cells_of(std::span<const double> ascending);

/// The power to which the likelihood is raised. It falls as the number of segments grows, so that a law which is only
/// nearly right never looks certain (Miller and Dunson, "Robust Bayesian inference via coarsening", JASA 114, 2019).
double temper_of(const Cells& cells);

}  // namespace halcyon
