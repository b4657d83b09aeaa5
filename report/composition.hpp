// What a composed profile was made of, as text.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/composition.hpp"

namespace halcyon {

/// A line of the result, then one of each run.
std::string composition_text(const std::string& file, const std::vector<Profile>& runs, const Composition& composition);

}  // namespace halcyon
