// How intervals narrow as runs are added.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace halcyon {

/// The width of Student's interval after `all_runs` over that after `runs`. Both are at least 2.
double narrowing(std::size_t runs, std::size_t all_runs, double confidence);

/// The least number of runs, from 2 on, for which it holds; it goes on to hold for more. None beyond a million.
std::optional<std::size_t> least_runs_for(const std::function<bool(std::size_t)>& is_enough);

}  // namespace halcyon
