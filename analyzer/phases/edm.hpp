// E-Divisive with Medians (EDM), the change point method of Pilot. It is only for comparison: rank_splits.hpp is the
// default.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halcyon {

/// How the penalty of one more change point grows with the number k of those before it: 0, 1, or 2k + 1.
enum class EdmDegree { none, constant, linear };

/// The change points of `values`: ascending, each is the first value of a new level.
///
/// EDM maximizes, over all divisions into stretches of at least `least_stretch` values, the sum over change points of
/// (difference of the medians on both sides)^2 times the product of the shares of both sides (N. A. James, A.
/// Kejariwal, D. S. Matteson, "Leveraging cloud data to mitigate user experience from 'breaking bad'", arXiv:1411.7955,
/// 2014). For n values it takes O(n^2 log n) time and O(n^2) memory.
///
/// `edm_percent` keeps a change point only if it raises the sum by the share `least_gain`, times the penalty. Pilot
/// calls it with these defaults.
struct EdmPercent {
  std::size_t least_stretch = 30;
  double least_gain = 0.25;
  EdmDegree degree = EdmDegree::constant;
};
std::vector<std::size_t> edm_percent(std::span<const double> values, const EdmPercent& settings = {});

/// `edm_multi` scales the values to [0, 1] and subtracts `beta`, times the penalty, for each change point.
struct EdmMulti {
  std::size_t least_stretch = 30;
  double beta = 0.008;
  EdmDegree degree = EdmDegree::constant;
};
std::vector<std::size_t> edm_multi(std::span<const double> values, const EdmMulti& settings = {});

}  // namespace halcyon
