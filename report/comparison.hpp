// Two runs side by side, as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/compare/comparison.hpp"

namespace halcyon {

/// One of the compared runs, as the user named it.
struct ComparedFile {
  const std::string& name;
  const Profile& profile;
};

/// The answer first: whether both did the same work, which run is more disturbed, and by how much. Then the figures
/// behind it.
std::string comparison_text(const ComparedFile& a, const ComparedFile& b, const Comparison& comparison);

/// The output of `halcyon compare --json`.
nlohmann::ordered_json comparison_json(const ComparedFile& a, const ComparedFile& b, const Comparison& comparison);

}  // namespace halcyon
