// How many runs it takes to know the time of real programs, by Halcyon and by other ways, on the same runs: a Markdown
// table with a row for each series. A series is a directory of profiles run-*.h5, as `halcyon repeat`, `halcyon
// validate` and bench/disturbed.py leave them. All runs of a series know each other, as those of `halcyon repeat` do.
//
// usage: recorded_series WITHIN_PERCENT DIRECTORY...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/repeat/series.hpp"
#include "analyzer/statistics/student.hpp"
#include "bench/stored_series.hpp"

namespace {

using namespace halcyon;

constexpr double confidence = 0.95;

std::string needed(const std::optional<std::size_t>& runs) { return runs ? fmt::format("{}", *runs) : "–"; }

// Pilot's "required sample size" of the measured times; none where no subsession is independent of the next.
std::optional<std::size_t> needed_by_pilot(const std::vector<RepeatedRun>& runs, double within_percent) {
  std::vector<double> seconds;
  double sum = 0.0;
  for (const RepeatedRun& run : runs) {
    seconds.push_back(run.measured_seconds);
    sum += run.measured_seconds;
  }
  const std::optional<std::size_t> size = subsession_size(seconds, subsession_limit);
  if (!size || seconds.size() / *size < 2) return std::nullopt;
  const double half_width = 0.01 * within_percent * sum / static_cast<double>(seconds.size());
  const double quantile = student_quantile_of_interval(confidence, static_cast<double>(seconds.size() / *size - 1));
  const double subsessions = subsession_variance(seconds, *size) * std::pow(quantile / half_width, 2.0);
  return static_cast<std::size_t>(std::ceil(subsessions)) * *size;
}

std::string cells(const MeanTime& mean) {
  if (mean.runs == 0) return "– | –";
  const std::optional<double> width = mean.half_width_percent();
  return fmt::format("{:.3f} s {} | {}", mean.mean_seconds, width ? fmt::format("± {:.1f} %", *width) : "",
                     needed(mean.runs_needed));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: recorded_series WITHIN_PERCENT DIRECTORY...\n", stderr);
    return 2;
  }
  const double within_percent = std::strtod(argv[1], nullptr);
  std::puts(
      "| series | runs | red | measured mean | needs | mean of those not red | needs | undisturbed mean | needs | its "
      "floor | Pilot needs |\n|---|---|---|---|---|---|---|---|---|---|---|");
  for (int i = 2; i < argc; ++i) {
    const std::vector<RepeatedRun> runs = judged_runs(profiles_in(argv[i]), Knowledge::of_all);
    const SeriesSummary summary =
        summarise(runs, {.precision = {.within_percent = within_percent, .confidence = confidence}});
    const auto red =
        std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run.verdict == Verdict::red; });
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.1f} % | {} |\n", std::filesystem::path(argv[i]).filename().string(),
               runs.size(), red, cells(summary.measured), cells(summary.quiet), cells(summary.undisturbed),
               summary.undisturbed.floor_percent(), needed(needed_by_pilot(runs, within_percent)));
    std::fflush(stdout);
  }
  return 0;
}
