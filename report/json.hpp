// A result and a profile as JSON. Scripts depend on the keys.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/statistics/interval.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// The text as a reader of its JSON gets it back: bytes that are not UTF-8 are replaced.
std::string valid_utf8(const std::string& text);

/// Indented. Nothing in it steers a terminal that shows it, and bytes that are not UTF-8 are replaced.
std::string to_text(const nlohmann::ordered_json& json);

/// null if it is empty.
nlohmann::ordered_json text_or_null(const std::string& text);

/// What a witness saw of a party: for how long it had CPUs that ranks waited for, of how long they waited, in s.
nlohmann::ordered_json party_json(const Party& party, double had_seconds, double waited_seconds);

/// [low, high].
nlohmann::ordered_json interval_json(const Interval& interval);

/// One run and its analysis.
struct AnalyzedFile {
  const std::string& name;
  const Profile& profile;
  const Analysis& analysis;
};

/// A figure of a run. One list of them serves JSON, CSV and OpenMetrics.
struct RunField {
  std::string_view name;    // key in JSON, column in CSV
  std::string_view metric;  // in OpenMetrics, ending in its unit; empty if it is not a number
  std::string_view description;
  nlohmann::ordered_json (*value)(const AnalyzedFile& run);  // null if it is not known
  enum class Shape { scalar, interval, nested } shape = Shape::scalar;
};
const std::vector<RunField>& run_fields();

/// The output of `halcyon report --json` for one run.
nlohmann::ordered_json report_json(const std::string& file, const Profile& profile, const Analysis& analysis);

/// The output of `halcyon info --json` for one profile.
nlohmann::ordered_json info_json(const std::string& file, const Profile& profile);

}  // namespace halcyon
