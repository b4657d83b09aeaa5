// A running job, look by look: the contents of its live record, and the changes since earlier looks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/known/known_parts.hpp"
#include "analyzer/online/interference_so_far.hpp"
#include "analyzer/online/phase_rate.hpp"
#include "analyzer/online/sign_test.hpp"
#include "libprofile/live/snapshot.hpp"

namespace halcyon {

enum class JobState : std::uint8_t { starting, running, stands_still, suspended, ended };
inline constexpr std::array<std::string_view, 5> job_state_names{"starting", "running", "stands-still", "suspended",
                                                                 "ended"};

/// Progress between two looks.
struct RateAt {
  double seconds = 0.0;  // since the job began
  double rate = 0.0;     // undisturbed seconds per second
};

/// A host without news: its ranks' data is old, and left out.
struct StaleHost {
  std::string name;
  double seconds = 0.0;
};

/// How a rank computed in the last minute, as a multiple of the middle one of those that wait for it. Its time is that
/// outside calls, on a CPU or not. Where both multiples are large, it had more to do; where the time alone is,
/// something made it slow, or it slept. By CPU time, a slower core cannot be told from more to do.
struct BesideOthers {
  double time = 1.0;
  double work = 1.0;
  bool work_is_time = true;  // CPU time, not events of a hardware counter
};

/// What is known about a job at a look.
struct JobView {
  std::string job;
  std::string command;
  std::vector<std::string> hosts;
  std::vector<StaleHost> stale_hosts;  // among them
  std::uint32_t ranks = 0;             // of the whole job
  std::uint32_t ranks_read = 0;        // of them
  double elapsed_seconds = 0.0;
  JobState state = JobState::starting;
  /// Undisturbed seconds done per second, since the rate last changed: 1 is the usual rate. None before two looks with
  /// a segment between them.
  std::optional<double> progress_rate;
  double segments_per_second = 0.0;               // of the middle rank, at the last look with a rate
  std::vector<RateAt> history;                    // of the last minutes
  bool is_slower_than_usual = false;              // by the sign test
  std::optional<InterferenceSoFar> interference;  // none before segments repeat
  /// Those for which the others wait, the slowest first; empty if too many hold the others up.
  std::vector<std::uint32_t> slowest_ranks;
  std::vector<std::string> slowest_hosts;
  double waiting_percent = 0.0;  // of its time that the middle rank waits in calls of MPI
  /// The slowest of them; none if there is none, or the others did nothing.
  std::optional<BesideOthers> slowest;
  double device_percent = 0.0;  // of its time that the middle rank is in calls of devices
  /// The best time of earlier runs for the remaining segments. None if none is known.
  std::optional<double> left_seconds;
  std::uint64_t known_runs = 0;  // used for this
  std::optional<double> last_boundary_seconds_ago;
  std::string last_place;  // boundary@module+offset
  /// Of the whole job: the rank that came last to that boundary. None if the ranks' published totals end at different
  /// ones.
  std::optional<std::uint32_t> last_rank;
  std::vector<std::uint32_t> stopped_ranks;  // by a signal
  std::vector<std::uint32_t> dead_ranks;     // without having ended
};

class WatchedJob {
 public:
  /// `known`: of earlier runs of the same command with the same number of ranks.
  explicit WatchedJob(std::optional<KnownParts> known = std::nullopt);

  void look(const live::JobNow& now);
  const JobView& view() const { return view_; }

 private:
  void look_at_hosts(const live::JobNow& now);
  void look_at_rate(const live::JobNow& now);
  void look_at_interference(const live::JobNow& now);
  bool judge(const live::RankNow& rank);
  void look_at_rest(const live::JobNow& now);
  void look_at_slowest(const live::JobNow& now);
  JobState state_of(const live::JobNow& now) const;

  JobView view_;
  std::optional<KnownParts> known_;
  std::unique_ptr<DurationLaws> laws_;
  std::optional<double> last_estimate_;                 // elapsed seconds
  double undisturbed_of_usual_ = 1.0;                   // undisturbed seconds of a usual second
  std::map<std::uint32_t, live::Totals> at_last_rate_;  // by rank
  PhaseRate rate_;
  SignTest test_;
  struct Waits {
    double at = 0.0;  // elapsed seconds
    std::map<std::uint32_t, live::Totals> totals;
  };
  std::deque<Waits> waits_;  // at looks of the last minute
};

}  // namespace halcyon
