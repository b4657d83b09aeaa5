// A series of runs (`halcyon repeat`) as an HTML page with pictures.
#pragma once

#include <string>

#include "report/series/repetition.hpp"

namespace halcyon {

/// Runs in order with their verdicts, the intervals of the means after each run, and A against B if two programs were
/// compared.
std::string repetition_html(const Repetition& series);

}  // namespace halcyon
