// A result and a profile as JSON, with the keys of the design: scripts depend on them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// What a file or a user said, with replacements for bytes that are no UTF-8.
std::string valid_utf8(const std::string& text);

/// As it is printed: indented, and with replacements for bytes that are no UTF-8, as a command line may hold.
std::string to_text(const nlohmann::ordered_json& json);

/// One run and what the analysis makes of it.
struct AnalyzedFile {
  const std::string& name;
  const Profile& profile;
  const Analysis& analysis;
};

/// What is told of a run, in one list for JSON, CSV and OpenMetrics.
struct RunField {
  std::string_view name;    // key in JSON, column in CSV
  std::string_view metric;  // in OpenMetrics, ending in its unit; empty where it is no number
  std::string_view description;
  nlohmann::ordered_json (*value)(const AnalyzedFile& run);  // null where it is not known
  enum class Shape { scalar, interval, nested } shape = Shape::scalar;
};
const std::vector<RunField>& run_fields();

/// What `halcyon report --json` says of one run.
nlohmann::ordered_json report_json(const std::string& file, const Profile& profile, const Analysis& analysis);

/// What `halcyon info --json` says of one profile.
nlohmann::ordered_json info_json(const std::string& file, const Profile& profile);

}  // namespace halcyon
