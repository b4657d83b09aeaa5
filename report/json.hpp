// A result and a profile as JSON, with the keys of the design: scripts depend on them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// As it is printed: indented, and with replacements for bytes that are no UTF-8, as a command line may hold.
std::string to_text(const nlohmann::ordered_json& json);

/// What `halcyon report --json` says of one run.
nlohmann::ordered_json report_json(const std::string& file, const Profile& profile, const Analysis& analysis);

/// What `halcyon info --json` says of one profile.
nlohmann::ordered_json info_json(const std::string& file, const Profile& profile);

}  // namespace halcyon
