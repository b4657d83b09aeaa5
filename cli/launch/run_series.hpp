// Several runs in one directory. Each run has a profile and a log named after it; series.json says what was run and how
// each run ended, so that the series can be resumed later.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/launch/recorded_run.hpp"
#include "cli/launch/signal_relay.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// What the series runs. It is resumed only for the same purpose.
struct SeriesPurpose {
  std::string subcommand;
  Words command;        // the launch command, as given
  Environment options;  // names and values of everything that changes the runs
  Environment asked;    // what else was asked for; a series may be resumed with other values
};

/// `recorded`: it has a profile. `other_work`: it has one, but did not do the work of the first run.
enum class RunState : std::uint8_t { running, recorded, failed, interrupted, other_work };

/// How much a run did. 0: not counted.
struct CountedWork {
  std::uint64_t segments = 0;
  int ranks = 0;
};

struct SeriesRun {
  std::string name;
  RunState state = RunState::running;
  int status = 0;       // of the launch command
  std::string profile;  // file in the directory; empty: none
  CountedWork work;
  double seconds = 0.0;  // of the launch command; 0: not known
};

/// run-07, if there are at most 99 runs.
std::string run_name(std::size_t number, std::size_t most);

class RunSeries {
 public:
  /// The directory must be new or empty, so that results of two series are never mixed. It is locked, so that no other
  /// process continues the series at the same time, nor while a job of the series still runs after this process was
  /// killed.
  static Outcome<RunSeries> begin(const std::filesystem::path& directory, SeriesPurpose purpose);
  /// In a new directory in the working directory: halcyon-repeat.20261122T221500, or, if another series began in this
  /// second, halcyon-repeat.20261122T221500-2.
  static Outcome<RunSeries> begin(SeriesPurpose purpose);
  /// Reads series.json and continues the series. A run that is still marked as running counts as interrupted.
  static Outcome<RunSeries> resume(const std::filesystem::path& directory, const SeriesPurpose& purpose);

  /// Where a series is that is named so: absolute, as a shell understands the name.
  static std::filesystem::path place_of(const std::filesystem::path& directory);
  /// What a series is for, as series.json says.
  static Outcome<SeriesPurpose> purpose_of(const std::filesystem::path& directory);

  /// Absolute.
  const std::filesystem::path& directory() const { return directory_; }
  const std::vector<SeriesRun>& runs() const { return runs_; }
  std::string log_of(const std::string& name) const { return (directory_ / (name + ".log")).string(); }

  /// The descriptor that locks the directory, for the jobs of the series.
  int lock() const { return lock_.number(); }
  /// Since the series began, without the time between a session and the one that resumed it.
  double elapsed_seconds() const;
  /// Keeps how long the series has taken until now. Each noted run keeps it, too.
  Status keep_elapsed_time() const { return save(); }

  /// Makes one run, which writes to the given profile and log.
  using MakeRun = std::function<Outcome<RecordedRunEnd>(const std::string& profile, const std::string& log)>;
  /// Makes a run, or repeats the one of that name, and returns its profile. A failure if the run failed, if its profile
  /// is not in the directory (it is elsewhere if the disk is full), or if a signal asked this process to end before it
  /// or during it. `command` is named where the run failed.
  Outcome<std::string> record(const std::string& name, const Words& command, const MakeRun& make,
                              const SignalRelay& relay);

  /// Notes how much a recorded run did. Returns how it differs from the first noted run with a name that begins with
  /// `like`, if that is other work: "1 rank instead of 2". Numbers of segments may differ by a tenth. A program that
  /// continues from files of its last run does other work, and so does one that gets more hosts.
  Outcome<std::optional<std::string>> count(const std::string& name, const CountedWork& work,
                                            std::string_view like = "");

 private:
  RunSeries(const std::filesystem::path& directory, SeriesPurpose purpose);
  SeriesRun& run_of(const std::string& name);
  Status take_lock();
  Status save() const;

  std::filesystem::path directory_;
  Descriptor lock_;
  SeriesPurpose purpose_;
  std::vector<SeriesRun> runs_;
  double seconds_before_ = 0.0;  // of earlier sessions
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace halcyon::cli
