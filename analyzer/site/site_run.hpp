// What the statistics of a site know of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halcyon {

/// One run. Works and hosts are numbers from 0 on, without large gaps. A work is what should take the same time in each
/// run: program, input and number of ranks.
struct SiteRun {
  std::int64_t number = 0;  // the caller's
  std::uint32_t work = 0;
  double day = 0.0;                  // when it started, in days since any common origin
  double log_seconds = 0.0;          // natural logarithm of its undisturbed time in s
  double log_error = 0.0;            // standard error of that: a 90 % interval from a to b gives ln(b / a) / 3.29
  std::vector<std::uint32_t> hosts;  // each once
  /// (hosts) ln of the time that the ranks of each host needed for the same counted work, if that is known: then hosts
  /// are compared within the run. Empty: only the time of the whole run is known.
  std::vector<double> log_host_seconds;
  double lost_share = 0.0;  // of its run time, from outside: 0 to 1
  std::string label;        // words that tell versions apart; empty if none are known
};

/// Whether the statistics can use it: it has hosts, all numbers are finite, no error is negative, and there are times
/// of all hosts or of none.
bool is_usable(const SiteRun& run);

}  // namespace halcyon
