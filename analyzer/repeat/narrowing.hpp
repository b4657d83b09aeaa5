// How intervals become narrower with more runs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace halcyon {

/// The width of Student's interval after `all_runs`, divided by that after `runs`. Both are at least 2.
double narrowing(std::size_t runs, std::size_t all_runs, double confidence);

/// The smallest number of runs, from 2 on, for which `is_enough` is true; it must be true for all larger numbers. None
/// beyond a million.
std::optional<std::size_t> least_runs_for(const std::function<bool(std::size_t)>& is_enough);

}  // namespace halcyon
