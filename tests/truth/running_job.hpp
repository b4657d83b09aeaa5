// The live record of a job that never ran.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "libprofile/live/snapshot.hpp"

namespace halcyon::truth {

/// Its ranks synchronise again and again, all at the same time.
struct RunningJob {
  static constexpr std::uint64_t second = 1'000'000'000;  // ns

  live::JobNow now;
  std::mt19937_64 random{1};
  double usual = 0.01;  // s, of a segment when nothing disturbs it
  double jitter = 0.01;
  double drift = 0.0;           // deviation of the speed, which wanders
  double drift_seconds = 30.0;  // over which it is correlated

  explicit RunningJob(std::uint32_t ranks, double usual_seconds = 0.01) : usual(usual_seconds) {
    now.job = "42";
    live::HostNow& host = now.hosts.emplace_back();
    host.name = "node7";
    now.command = "./app";
    now.ranks = ranks;
    host.start_monotonic = 100 * second;
    host.read_monotonic = host.start_monotonic;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      live::RankNow& here = now.here.emplace_back();
      here.rank = rank;
      here.is_alive = true;
      here.last_place = "allreduce@app+0x10";
      here.kinds.push_back({.key = 1, .usual_seconds = usual, .first_bin = first_bin()});
    }
  }

  /// The middle of the histogram is about the usual time.
  std::uint32_t first_bin() const { return live::bin_of(1e9 * usual) - live::bin_count / 4; }

  /// Runs for so long. Each segment takes `slower` times as long as usual. The first rank never waits, the others wait
  /// for the share `waits` of the time.
  void run(double seconds, double slower = 1.0, double waits = 0.0) {
    std::normal_distribution<double> own(1.0, jitter);
    std::normal_distribution<double> step(0.0, 1.0);
    for (double left = seconds; left > 0.0;) {
      if (drift > 0.0) {
        const double kept = std::exp(-usual / drift_seconds);
        level_ = kept * level_ + drift * std::sqrt(1.0 - kept * kept) * step(random);
      }
      const double took = usual * slower * own(random) * (1.0 + level_);
      left -= took;
      pass(took);
      for (live::RankNow& rank : now.here) add_segment(rank, took, rank.rank > 0 ? waits : 0.0);
    }
  }
  /// Nothing happens for so long.
  void pass(double seconds) { now.hosts.front().read_monotonic += static_cast<std::uint64_t>(1e9 * seconds); }

 private:
  void add_segment(live::RankNow& rank, double took, double waits) const {
    live::KindNow& kind = rank.kinds.front();
    ++kind.segments;
    kind.seconds += took;
    ++kind.bins[live::bin_of(1e9 * took) - kind.first_bin];
    ++rank.totals.segments;
    rank.totals.seconds += took;
    rank.totals.usual_seconds += kind.usual_seconds;
    rank.totals.last_end = now.hosts.front().read_monotonic;
    rank.totals.parts[index_of(live::PartOfTime::boundary)] += waits * took;
    rank.totals.parts[index_of(live::PartOfTime::computation)] += (1.0 - waits) * took;
    rank.totals.work += kind.usual_seconds;
  }

  double level_ = 0.0;
};

}  // namespace halcyon::truth
