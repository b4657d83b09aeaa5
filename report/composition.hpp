// How a composed profile was made, as text.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/composition.hpp"

namespace halcyon {

/// One line for the result, one per run, and the number of segments that were replaced or left as measured.
std::string composition_text(const std::string& file, const std::vector<Profile>& runs, const Composition& composition);

}  // namespace halcyon
