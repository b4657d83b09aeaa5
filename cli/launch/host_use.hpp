// How much of this host's cores others use before a program starts, and who they are.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace halcyon::cli {

struct ProgramUse {
  std::string program;
  double cores = 0.0;
};

/// Cores in use by others. A whole core would be late for half of its time.
inline constexpr double least_worth_telling = 0.5;

struct HostUse {
  double cores = 0.0;                // in use
  int cpus = 0;                      // 0 without /proc
  std::vector<ProgramUse> programs;  // those that use most first; empty if the host is idle, or they cannot be seen

  bool is_busy() const { return cores >= least_worth_telling; }
};

/// "1.9 of 2 cores are in use: cc1plus 0.9, stress-ng 0.8"
std::string in_words(const HostUse& use);

/// From its making on. What this command and its children use does not count.
class LookAtHost {
 public:
  LookAtHost();
  /// Unless nobody else runs, waits until some hundredths of a second have passed, and on a busy host for as long
  /// again, to see who it is.
  HostUse use() const;

 private:
  struct Counted {
    std::chrono::steady_clock::time_point at;
    double used_seconds = 0.0;  // by all cores
    double own_seconds = 0.0;   // part of it
    int cpus = 0;
  };
  static Counted counted();

  Counted before_;
};

}  // namespace halcyon::cli
