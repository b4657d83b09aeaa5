// A run of a command in which something was varied, as `search` and `map` report it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace halcyon {

struct VariedRun {
  std::string name;                  // of its profile and log
  std::vector<double> values;        // of what was varied
  std::optional<int> failed_with{};  // the status of a failed run: everything below is unknown
  int ranks = 0;
  double run_time_seconds = 0.0;
  std::optional<double> undisturbed_seconds{};  // nothing: the run has no verdict
  std::string_view verdict{};
  std::optional<double> printed{};  // the number read from its output

  double seconds() const { return undisturbed_seconds.value_or(run_time_seconds); }
};

/// A value as it is put into the command.
std::string value_text(double value);

/// A time in the unit that suits it, any other response as a number.
std::string response_words(bool is_time, double response);

/// The keys of both commands; `response` is null if the run failed.
nlohmann::ordered_json varied_run_json(const VariedRun& run, std::optional<double> response);

/// "3 of 12 runs had no verdict: their measured times count."; empty if all have one, or printed the number that
/// counts.
std::string without_verdict_words(const std::vector<VariedRun>& runs);

}  // namespace halcyon
