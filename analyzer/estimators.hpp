// Estimators: from the durations of segments that did the same work to what came from outside.
#pragma once

#include <Eigen/Core>

#include <array>
#include <string_view>

namespace halcyon {

using Durations = Eigen::ArrayXd;  // (segments of a group) seconds

/// What an estimator makes of one group.
struct GroupEstimate {
  double baseline = 0.0;   // s, undisturbed duration of a segment
  double threshold = 0.0;  // s, a longer segment is disturbed
  Durations excess;        // (segments of the group) s
};

/// The middle value, or the mean of the two middle ones. Needs at least one value.
double median(Durations values);

/// Seed 002, section 2, "Estimating Interference": with m the median and MAD = median(|x - m|), a segment above
/// t = m + 4 MAD is disturbed, and its excess is x - t.
GroupEstimate estimate_paper(const Durations& durations);

/// The baseline b is the centre of the shortest interval that holds a quarter of the group; the left spread is
/// s = 1.4826 median(b - x | x < b); a segment above b + 4 s is disturbed, and its excess is x - b.
GroupEstimate estimate_mode(const Durations& durations);

struct Method {
  std::string_view name;
  GroupEstimate (*estimate)(const Durations&);
};
/// All run every time; the first is the default.
inline constexpr std::array<Method, 2> methods{{{"paper", estimate_paper}, {"mode", estimate_mode}}};

}  // namespace halcyon
