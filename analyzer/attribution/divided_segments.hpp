// The excess of a run, segment by segment, divided as in its breakdown.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "analyzer/attribution/breakdown.hpp"

namespace halcyon {

/// Calls `visit` for each segment whose excess is not zero, in the order of time, with that excess by kind, in s.
/// `excess`: (segments) s.
void for_each_divided(const Profile& profile, const Grouping& grouping, const std::vector<float>& excess,
                      const std::function<void(std::size_t segment, const SecondsByKind& kinds)>& visit);

}  // namespace halcyon
