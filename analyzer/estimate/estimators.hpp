// The list of estimators: from the durations of segments that did the same work, they estimate the time from outside.
#pragma once

#include <array>
#include <string_view>

#include "analyzer/estimate/estimate.hpp"
#include "analyzer/estimate/judged_durations.hpp"

namespace halcyon {

struct Method {
  std::string_view name;
  RunEstimate (*estimate)(const JudgedDurations& run, Detail detail);
};
/// All run every time; the first is the default.
extern const std::array<Method, 2> methods;

}  // namespace halcyon
