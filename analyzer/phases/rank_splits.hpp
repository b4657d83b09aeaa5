// Where the level of a series changes, by the ranks of its values: rare values far out change nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halcyon {

/// The probability to find any change in a series whose values come in random order.
inline constexpr double false_change_probability = 0.01;

/// The change points of `values`: ascending, each is the first value of a new level.
///
/// Divisive: the arc of the series whose mean rank is farthest from that of the rest is cut out, then each of the parts
/// is divided in the same way. An arc may begin or end where the series does (A. B. Olshen et al., "Circular binary
/// segmentation", Biostatistics 5, 2004; here on ranks, as A. N. Pettitt's test of one change, Appl. Statist. 28,
/// 1979). A part is divided if random permutations of its values seldom have an arc as far out. Seldom means
/// `false_change_probability` times the share of the part in the series. The shares of the parts without a change add
/// up to at most 1, so the probability of any false division is at most that, for any number of tests. Permutations are
/// the same in each call.
std::vector<std::size_t> rank_splits(std::span<const double> values);

/// Moves each change point to the best place between its neighbours, by ranks.
void move_to_best_places(std::span<const double> values, std::vector<std::size_t>& changes);

/// The probability that a value of `b` is above one of `a`, where ties count half.
double superiority(std::span<const double> a, std::span<const double> b);

}  // namespace halcyon
