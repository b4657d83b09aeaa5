#include "report/series/varied_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libprofile/system/plural.hpp"
#include "report/words.hpp"

namespace halcyon {

using nlohmann::ordered_json;

std::string value_text(double value) {
  constexpr double most_exact = 1e15;
  const bool is_whole = value == std::round(value) && std::abs(value) < most_exact;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

ordered_json varied_run_json(const VariedRun& run, std::optional<double> response) {
  const auto known = [&run](const auto& value) { return run.failed_with ? ordered_json() : ordered_json(value); };
  const auto or_null = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(); };
  return {{"run", run.name},
          {"failed_with", or_null(run.failed_with)},
          {"response", or_null(response)},
          {"ranks", known(run.ranks)},
          {"run_time_seconds", known(run.run_time_seconds)},
          {"undisturbed_time_seconds", or_null(run.undisturbed_seconds)},
          {"verdict", known(run.verdict)}};
}

std::string without_verdict_words(const std::vector<VariedRun>& runs) {
  const auto count = std::count_if(runs.begin(), runs.end(), [](const VariedRun& run) {
    return !run.failed_with && !run.undisturbed_seconds && !run.printed;
  });
  if (count == 0) return {};
  return fmt::format("{} of {} had no verdict: the measured time counts.", count, plural(runs.size(), "run"));
}

std::string response_words(bool is_time, double response) {
  return is_time ? seconds(response) : fmt::format("{:.4g}", response);
}

}  // namespace halcyon
