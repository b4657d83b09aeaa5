// How well the ranks used the run time: parallel efficiency and its factors, as the POP centre of excellence defines
// them (Standard Metrics for Parallel Performance Analysis, https://pop-coe.eu/node/69).
#pragma once

#include <cstdint>
#include <optional>

#include "libprofile/format/profile.hpp"

namespace halcyon {

/// A rank's useful time is what it does not spend in calls of MPI. All values are between 0 and 1.
struct Efficiency {
  double load_balance = 1.0;   // mean of the useful times over ranks, by the largest
  double communication = 1.0;  // the largest of them, by the run time
  // The factors of that, not in older profiles: had calls of MPI taken no time but to wait for others, each segment
  // would have been as long as the rank that spends least in them is outside. Serialisation is the largest useful time
  // by the sum of these, transfer that sum by the run time.
  std::optional<double> serialisation;
  std::optional<double> transfer;
  std::uint32_t busiest = 0;  // the rank that has it

  double parallel() const { return load_balance * communication; }
};

/// How well threads used the time of their ranks outside calls of MPI, between 0 and 1, as far as teams of OpenMP tell.
struct ThreadEfficiency {
  double parallel = 1.0;      // their work, by what as many threads could have done; one alone works outside regions
  double load_balance = 1.0;  // in regions: mean of the work over threads, by the largest
  double threads = 1.0;       // of a region, mean over time
};
/// Nothing without regions of several threads, and in older profiles.
std::optional<ThreadEfficiency> thread_efficiency_of(const Profile& profile);

/// Read from files and written to them, by all ranks.
std::uint64_t bytes_of_files(const Profile& profile);
/// Nothing if the time in MPI of some rank is not known, as in older profiles.
std::optional<Efficiency> efficiency_of(const Profile& profile);

}  // namespace halcyon
