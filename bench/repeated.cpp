// How many runs it takes to know the time of real programs, by Halcyon and by other ways, on the same runs: a Markdown
// table with a row for each series. A series is a directory of profiles run-*.h5, as `halcyon repeat`, `halcyon
// validate` and bench/disturbed.py leave them. All runs of a series know each other, as those of `halcyon repeat` do.
//
// usage: repeated WITHIN_PERCENT DIRECTORY...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/known/known_displacement.hpp"
#include "analyzer/repeat/series.hpp"
#include "analyzer/statistics/student.hpp"
#include "libprofile/format/profile_reader.hpp"

namespace {

using namespace halcyon;

constexpr double confidence = 0.95;

std::vector<std::string> profiles_in(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("run-") && name.ends_with(".h5")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A profile that cannot be read is left out, and said.
template <class Take>
void for_each_profile(const std::vector<std::string>& files, Take take) {
  for (const std::string& file : files) {
    Outcome<Profile> profile = read_profile(file, Columns::analyzed);
    if (!profile) {
      std::fprintf(stderr, "%s\n", profile.failure().message.c_str());
      continue;
    }
    const Grouping grouping = group_segments(*profile);
    take(*profile, grouping);
  }
}

RepeatedRun repeated_run(const Profile& profile, const Analysis& analysis) {
  RepeatedRun run{
      .measured_seconds = analysis.run_time_seconds, .verdict = analysis.result().verdict, .hosts = profile.hosts()};
  if (analysis.has_estimate())
    run.undisturbed = {analysis.undisturbed_time_seconds(), analysis.undisturbed_interval_seconds()};
  return run;
}

std::vector<RepeatedRun> runs_of(const std::vector<std::string>& files) {
  std::optional<KnownWork> known;
  for_each_profile(files, [&](const Profile& profile, const Grouping& grouping) {
    const bool is_other_work = known && !displacement_from(profile, grouping, *known);
    if (is_other_work || !is_learnt_from(profile, true)) return;
    known = known ? with_run(std::move(*known), profile, grouping) : known_by(profile, grouping);
  });
  std::vector<RepeatedRun> runs;
  for_each_profile(files, [&](Profile& profile, const Grouping& grouping) {
    profile.known_runs = known ? displacement_from(profile, grouping, *known) : std::nullopt;
    runs.push_back(repeated_run(profile, analyze(profile, grouping, methods.front().name)));
  });
  return runs;
}

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
    std::fputs("usage: repeated WITHIN_PERCENT DIRECTORY...\n", stderr);
    return 2;
  }
  const double within_percent = std::strtod(argv[1], nullptr);
  std::puts(
      "| series | runs | red | measured mean | needs | mean of those not red | needs | undisturbed mean | needs | its "
      "floor | Pilot needs |\n|---|---|---|---|---|---|---|---|---|---|---|");
  for (int i = 2; i < argc; ++i) {
    const std::vector<RepeatedRun> runs = runs_of(profiles_in(argv[i]));
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
