// The request to `halcyon repeat`: the options as given, and after checking.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/console/common_options.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/rank_environment.hpp"
#include "cli/launch/run_series.hpp"
#include "libprofile/system/outcome.hpp"
#include "report/series/repetition.hpp"

namespace halcyon::cli {

/// Texts and numbers as they were given. Empty or 0: not given.
struct RepeatOptions {
  RankOptions recording;
  std::string within;
  std::string confidence;
  int least_runs = 0;
  int most_runs = 0;
  int exact_runs = 0;
  std::string most_time;
  std::string warm_up;
  std::string prepare;
  std::string directory;
  std::string resumed;
  std::vector<std::string> versus;
  bool is_against_itself = false;
  std::string work;
  std::string fail_on;
  std::string json;
  std::string csv;
  std::string html;
  std::string quote;
  bool no_baseline = false;
};

inline constexpr const char* default_within = "2%";
inline constexpr int most_runs_of_a_series = 100000;

/// A program of the series: its command, and how it is launched.
struct Launched {
  Words command;
  Launcher launcher;
};

struct VariedWork {
  std::string name;
  WorkRange range;
};

struct RepeatRequest {
  std::vector<Launched> programs;  // A first, then those that it is compared with; itself has the same command
  std::optional<VariedWork> work;
  Precision precision;
  StoppingRule rule;
  std::optional<std::size_t> warm_up_runs;  // none: auto
  std::string prepare;                      // for a shell; empty: nothing
  RankOptions recording;
};

/// "N=1000..16000", of whole numbers from 1 to below 10^15.
std::optional<VariedWork> varied_work(const std::string& text);

/// Why a text is no value of an option; empty if it is one.
std::string objection_to_within(const std::string& text);
std::string objection_to_most_time(const std::string& text);
std::string objection_to_warm_up(const std::string& text);
std::string objection_to_fail_on(const std::string& text);
std::string objection_to_work(const std::string& text);

/// The options must have passed the checks of the command line.
Outcome<RepeatRequest> request_of(const RepeatOptions& options, const Words& launch);

/// Everything that changes the runs.
Environment options_of(const RepeatOptions& options);
/// The requested precision and limits, which may change when a series is resumed.
Environment asked_of(const RepeatOptions& options);
/// What a series was asked for, unless the options say something else.
Status take_over(RepeatOptions& options, const SeriesPurpose& purpose);

}  // namespace halcyon::cli
