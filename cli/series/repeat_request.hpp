// The request to `halcyon repeat`: the options as given, and after checking.
#pragma once

#include <optional>
#include <string>

#include "cli/launch/launchers.hpp"
#include "cli/launch/rank_environment.hpp"
#include "libprofile/system/outcome.hpp"
#include "report/series/repetition.hpp"

namespace halcyon::cli {

struct RepeatOptions {
  RankOptions recording;
  std::string within = "2%";
  std::string confidence = "95%";
  int least_runs = static_cast<int>(default_least_runs);
  int most_runs = 0;   // 0: no limit
  int exact_runs = 0;  // 0: as many as needed
  std::string most_time;
  std::string warm_up = "0";
  std::string prepare;
  std::string directory;
  std::string resumed;
  std::string versus;
  bool is_against_itself = false;
  std::string work;
  std::string fail_on;
  std::string json;
  std::string csv;
  std::string html;
  bool no_baseline = false;
};

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
  Launched a;
  std::optional<Launched> b;  // A against itself has the same command
  std::optional<VariedWork> work;
  Precision precision;
  StoppingRule rule;
  std::optional<std::size_t> warm_up_runs;  // none: auto
  std::string prepare;                      // for a shell; empty: nothing
  RankOptions recording;
};

/// "N=1000..16000", of whole numbers above 0.
std::optional<VariedWork> varied_work(const std::string& text);

/// The options must have passed the checks of the command line.
Outcome<RepeatRequest> request_of(const RepeatOptions& options, const Words& launch);

/// Everything that changes the runs. The requested precision may change when a series is resumed.
Environment options_of(const RepeatOptions& options);

}  // namespace halcyon::cli
