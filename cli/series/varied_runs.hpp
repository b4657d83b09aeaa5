// Runs of a command in which {NAME} stands for varied values: the user's options, and the runs themselves.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/search/surface.hpp"
#include "analyzer/statistics/interval.hpp"
#include "cli/console/command.hpp"
#include "cli/kept/judged_file.hpp"
#include "cli/launch/launchers.hpp"
#include "cli/launch/run_series.hpp"
#include "cli/series/printed_number.hpp"
#include "libprofile/system/outcome.hpp"
#include "report/series/varied_run.hpp"

namespace halcyon::cli {

/// NAME=A..B
struct VariedRange {
  std::string name;
  Interval range;
  bool is_whole = true;  // neither A nor B has a decimal point
};
Outcome<VariedRange> parse_varied_range(const std::string& text);
/// NAME=LIST, such as ranks=1,2,4,8
Outcome<Factor> parse_factor(const std::string& text);

/// A share such as 90% or 90, as 0.9. It must be in the interval `between`, also of shares.
Outcome<double> parse_share(const std::string& text, const Interval& between);

/// The command with values instead of the names in braces. A shell's ${NAME} stays.
Words with_values(const Words& launch, const std::vector<std::string>& names, const std::vector<double>& values);

/// The value as it is put into a command: with at most six digits, unless it is whole.
double put_into_command(double value);

/// Why a {NAME} of the command has no value, or a name is not in the command; nothing if all is well. A shell's ${NAME}
/// needs none. `option`: the option that gives values.
std::optional<std::string> objection_to_command(const Words& launch, const std::vector<std::string>& names,
                                                std::string_view option);

/// The common options of `search` and `map`.
struct VariedRunsOptions {
  std::filesystem::path directory;
  std::filesystem::path resumed;
  std::string read;
  std::string json;
  std::string html;
  bool no_baseline = false;
  RankOptions recording;
};
void add_varied_runs_options(const Command& command, VariedRunsOptions& options);

struct VariedRunsSetting {
  std::string subcommand;
  std::vector<std::string> names;
  Words launch;
  bool keeps_failed = false;  // a failed run is also a result
};

class VariedRuns {
 public:
  /// Checks the options and the command. Begins in the requested directory, or in one named after the subcommand and
  /// the time, or continues the runs of another directory. In that case, runs that did not end well are repeated.
  static Outcome<VariedRuns> open(VariedRunsSetting setting, const VariedRunsOptions& options);

  const std::vector<VariedRun>& runs() const { return runs_; }
  const std::filesystem::path& directory() const { return series_.directory(); }

  /// One more run with these values. A failure if it gave no result, or a signal asked this process to end.
  Status make(const std::vector<double>& values, SignalRelay& relay);

  /// "N=16; N=8 took 3 s": how long the next run may take.
  std::string next_words(const std::vector<double>& values) const;

 private:
  explicit VariedRuns(RunSeries series) : series_(std::move(series)) {}
  void take_from_series();
  Outcome<VariedRun> result_of(const std::string& name, std::vector<double> values, const JudgedFile& judged) const;
  std::string name_of_next_run(const std::vector<double>& values) const;

  VariedRunsSetting setting_;
  Launcher launcher_{};
  RankOptions recording_;
  NumberFinder read_{};  // of the number that each run prints
  std::optional<KnownBefore> known_{};
  RunSeries series_;
  std::vector<VariedRun> runs_;
};

/// Writes the result into the series' directory and where the options say.
Status write_varied_results(const VariedRuns& runs, const std::string& name, const VariedRunsOptions& options,
                            const std::string& text, const nlohmann::ordered_json& document,
                            const std::function<std::string()>& page);

}  // namespace halcyon::cli
