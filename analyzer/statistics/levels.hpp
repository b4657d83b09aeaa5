// A series along time, divided where its level changes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halcyon {

inline constexpr double least_noise = 0.005;  // of logarithms of times: no machine is more regular
inline constexpr double most_distance = 3.0;  // standard deviations: a value further out costs no more

/// The values from `begin` up to, but not including, `end`.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

struct OneLevel {
  Stretch stretch;
  double level = 0.0;  // the mean of those that are not far out
};

/// The stretches of a series of logarithms between changes of its level: one where none is certain, none of an empty
/// series. They have the least cost: of each value min(z^2, 9) / 2, where z is its distance from the level of its
/// stretch in standard deviations of the noise, and of each change 1.5 ln n for n values. A value far out costs no more
/// than any other: a change needs several (the biweight loss of P. Fearnhead and G. Rigaill, "Changepoint detection in
/// the presence of outliers", J. Am. Stat. Assoc. 114, 2019, with their limit of 3 and 1.5 times their penalty). The
/// levels that are tried are quantiles of the series; this takes time in proportion to its length.
///
/// The noise is taken from the steps between neighbours (`least_noise` at least), and, where what the levels leave
/// wanders, from its correlation: jitter that lasts for some values is no change of level. Neighbours must also be on
/// the same side of the middle of all levels more often than in any order, by a likelihood ratio of 1.5 ln n: values of
/// two kinds in any order are none.
std::vector<OneLevel> stretches_of_one_level(std::span<const double> values);

struct Division {
  std::vector<OneLevel> stretches;
  double noise = 1.0;  // standard deviation of what the levels leave, in the given ones; more than 1.1 times, else 1
};

/// The same for values of which each has a standard deviation of its own (all > 0), and each change a cost of its own
/// (values; the cost of a change before that value, in natural logarithms of a likelihood). Deviations are common
/// knowledge up to a factor: where what the levels leave is larger, or wanders, all of them grow. Order is not tested.
Division divided_at_least_cost(std::span<const double> values, std::span<const double> deviations,
                               std::span<const double> costs_of_change);
/// min(z^2, 9) / 2.
double cost_of_distance(double value, double level, double deviation);
/// 1.5 ln n.
double usual_cost_of_change(std::size_t values);

/// The medians of consecutive stretches of `length` values. Values left over at the end are not used.
std::vector<double> medians_of_stretches(std::span<const double> values, std::size_t length);

}  // namespace halcyon
