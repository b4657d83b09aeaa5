// Who uses the cores of a job's ranks: its own threads, by their schedstat, and all others, by /proc/stat.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/launch/kernel_counts.hpp"

namespace halcyon::cli {

/// Times are in s by any one clock. What the kernel does not say counts as nothing.
class CoresOfRanks {
 public:
  /// `ranks`: their processes. `proc`: where the kernel says what it counts.
  CoresOfRanks(const std::vector<pid_t>& ranks, double now, std::string proc = "/proc");

  /// The share of the time since the last call for which the thread that waited longest was ready to run and others had
  /// its CPU. It is no more than what the job's own threads left of the cores, since they may take them from each
  /// other, and no more than what others used of them: a limit on CPU time makes threads wait, too.
  double waited_share(double now);

  /// From now on, the ranks stand still.
  void stand_still(double now);
  /// Whether others used so much of the cores meanwhile that the ranks would wait for more than the share `tolerance`
  /// of what they used or waited for before they stood still. Looks again after `window` seconds; before, it says what
  /// it said last, at first yes.
  bool are_wanted(double now, double tolerance, double window);

 private:
  struct Rank {
    pid_t process = 0;
    std::set<int> cpus;  // to which its threads are bound
    std::map<std::string, ThreadTimes> threads;
  };
  std::set<int> cpus_of(const Rank& rank) const;
  std::set<int> cpus() const;
  std::map<int, double> used_of_cpus() const;

  std::string proc_;
  std::vector<Rank> ranks_;
  double looked_;
  double demand_ = 0.0;                // of the ranks when they last ran, in cores
  bool is_nice_ = false;               // the ranks are of low priority
  std::map<int, double> used_of_cpu_;  // of their cores, by anyone, at the last look, in s
  bool are_wanted_ = true;
};

}  // namespace halcyon::cli
