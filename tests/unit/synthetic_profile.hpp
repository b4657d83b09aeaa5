// Profiles made by hand, for tests.
#pragma once

#include "libprofile/format/profile.hpp"

namespace halcyon::testing {

/// `segments` alike ones of `seconds` each, on `ranks` ranks. Columns that every recorded run has are there
/// and consistent; background, probes, modules and injected delays are not.
inline Profile uniform_profile(std::size_t segments, double seconds, int ranks = 2) {
  Profile profile;
  profile.recorder_version = "0.1.0";
  profile.command = "mpirun -np 2 ./app";
  profile.ranks = ranks;
  profile.mpi = "Open MPI";
  profile.counter = "cpu";
  profile.compute_units = "ns";
  profile.clock = "CLOCK_MONOTONIC";
  profile.start_time = "2026-01-01T00:00:00Z";
  profile.exit_state = "finalized";
  profile.run_time_seconds = static_cast<double>(segments) * seconds;
  profile.boundary_cost_seconds = 1e-7;
  profile.clock_resolution_seconds = 1e-8;
  profile.rank_host.assign(static_cast<std::size_t>(ranks), "host");
  profile.rank_run_time.assign(static_cast<std::size_t>(ranks), profile.run_time_seconds);
  for (const FeatureInfo& info : features) {
    profile.features[index_of(info.feature)].bins = {0.0};
    if (info.kind != FeatureKind::work) {
      profile.totals[index_of(info.feature)].assign(static_cast<std::size_t>(ranks), 0);
    }
  }
  profile.segments = segments;
  profile.duration.assign(segments, static_cast<float>(seconds));
  profile.boundary_wait.assign(segments, 0.0F);
  profile.last_rank.assign(segments, 0);
  for (auto& column : profile.last_rank_times) column.assign(segments, 0.0F);
  profile.last_rank_off_cpu.assign(segments, 0.0F);
  profile.calls_beyond_usual.assign(segments, 0.0F);
  for (auto& values : profile.evidence) values.assign(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    profile.evidence[index_of(Evidence::first_cpu)][rank] = static_cast<double>(rank);
  }
  profile.sites = {"allreduce@app+0x10"};
  return profile;
}

inline FeatureColumn& column(Profile& profile, Feature feature) { return profile.features[index_of(feature)]; }

}  // namespace halcyon::testing
