// The result of `halcyon map` as a page.
#pragma once

#include <string>

#include "report/series/map.hpp"

namespace halcyon {

/// The text of the result, and the surface: a curve over one factor, or a field of two, one for each combination of the
/// others.
std::string map_html(const MapResult& result);

}  // namespace halcyon
