#include "bench/stored_series.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/known/known_displacement.hpp"
#include "libprofile/format/profile_reader.hpp"

namespace halcyon {
namespace {

// A profile that cannot be read is left out, and said.
template <class Take>
void for_each_profile(std::span<const std::string> files, Take take) {
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

std::optional<KnownWork> known_from(std::span<const std::string> files) {
  std::optional<KnownWork> known;
  for_each_profile(files, [&](const Profile& profile, const Grouping& grouping) {
    const bool is_other_work = known && !displacement_from(profile, grouping, *known);
    if (is_other_work || !is_learnt_from(profile, true)) return;
    known = known ? with_run(std::move(*known), profile, grouping) : known_by(profile, grouping);
  });
  return known;
}

}  // namespace

std::vector<std::string> profiles_in(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("run-") && name.ends_with(".h5")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<RepeatedRun> judged_runs(std::span<const std::string> files, Knowledge knowledge) {
  std::optional<KnownWork> known;
  if (knowledge == Knowledge::of_all) known = known_from(files);
  std::vector<RepeatedRun> runs;
  for_each_profile(files, [&](Profile& profile, const Grouping& grouping) {
    profile.known_runs = known ? displacement_from(profile, grouping, *known) : std::nullopt;
    runs.push_back(repeated_run(profile, analyze(profile, grouping, methods.front().name)));
  });
  return runs;
}

}  // namespace halcyon
