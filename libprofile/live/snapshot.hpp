// The contents of a live record when it was read: plain values, checked. Analyses of a running job are functions over
// these.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/live/layout.hpp"

namespace halcyon::live {

/// Segments of one rank that did similar work. Of those shorter than 100 us, one in eight was counted, eight times.
struct KindNow {
  std::uint64_t key = 0;
  std::string place;  // where they end: boundary@module+offset; empty if there are too many places
  std::uint64_t segments = 0;
  double seconds = 0.0;
  double squared_seconds = 0.0;  // s²
  double usual_seconds = 0.0;    // of one segment: the lower quartile so far, to the width of a bin
  // Numbers of segments by duration. bins[i] counts durations from lower_end_of(first_bin + i) ns to that of the next.
  std::uint32_t first_bin = 0;
  std::array<std::uint32_t, bin_count> bins{};
  std::uint64_t below = 0;  // shorter than all bins
  double below_seconds = 0.0;
  std::uint64_t above = 0;  // longer than all bins
  double above_seconds = 0.0;
};

struct RankNow {
  std::uint32_t rank = 0;
  std::int32_t process = 0;
  bool is_alive = false;    // its process exists, and is no zombie
  bool is_stopped = false;  // by a signal
  std::size_t host = 0;     // index into the job's hosts
  State state = State::running;
  std::uint64_t boundaries = 0;  // passed, as of now
  Totals totals{};               // as of the last time that the rank published, at most 100 ms before its last boundary
  std::string last_place;        // where the last segment in the totals ended
  std::vector<KindNow> kinds;    // the last of most_kinds holds all without their own place
};

/// A host on which a job's ranks were read. Its times are from its own CLOCK_MONOTONIC, ns: times of two hosts cannot
/// be compared.
struct HostNow {
  std::string name;
  std::uint64_t start_monotonic = 0;    // when its record was created
  std::uint64_t read_monotonic = 0;     // when it was read: the time since Totals::last_end shows a standstill
  std::optional<double> stale_seconds;  // time without news, if its ranks are left out because of that
};

/// What was read of a job: its ranks on one host, or on several.
struct JobNow {
  std::string file;
  std::string job;  // the launcher's name for it; may be empty
  std::vector<HostNow> hosts;
  std::string command;
  std::uint32_t ranks = 0;  // of the whole job, on all hosts
  std::int32_t launcher = 0;
  std::uint64_t start_time = 0;  // CLOCK_REALTIME, ns
  std::vector<RankNow> here;     // host by host, in the order in which they attached

  bool is_alive() const {
    return std::any_of(here.begin(), here.end(), [](const RankNow& rank) { return rank.is_alive; });
  }
  /// False before the first rank was read.
  bool has_ended() const {
    return !here.empty() && std::all_of(here.begin(), here.end(), [](const RankNow& rank) {
      return rank.state == State::ended || !rank.is_alive;
    });
  }
};

}  // namespace halcyon::live
