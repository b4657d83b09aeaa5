// A series of runs (`halcyon repeat`) as an HTML page with pictures.
#pragma once

#include <string>

#include "report/series/repetition.hpp"

namespace halcyon {

/// The answer in words, then pictures of the comparisons, of the runs with their verdicts and of how the intervals of
/// the means became narrower, then all figures.
std::string repetition_html(const Repetition& series);

}  // namespace halcyon
