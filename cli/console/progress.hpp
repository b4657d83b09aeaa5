// The current step and its progress, on standard error: a bar on a terminal, lines elsewhere.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace halcyon::cli {

/// The runs of a series.
class Progress {
 public:
  /// The seconds that each run will probably take; empty if the number of runs is not known.
  explicit Progress(std::vector<double> expected_seconds = {});
  /// Ends the line on a terminal, so that the next output starts on a new line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Runs count from 0.
  void begin(std::size_t run, const std::string& what) const;
  /// A run of a series whose number is not known here: `which` is like "run 5".
  void begin(const std::string& which, const std::string& what) const;

 private:
  double elapsed_seconds() const;

  std::vector<double> expected_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool on_terminal_;
};

/// After a program that has written to the terminal, and before a step is shown: its last line may not have ended.
void keep_what_was_written();

/// Shows the current step to a user at a terminal; the next one replaces it, and an empty one removes it.
void show_step(const std::string& what);

}  // namespace halcyon::cli
