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
  std::uint32_t busiest = 0;   // the rank that has it

  double parallel() const { return load_balance * communication; }
};

/// Nothing if the time in MPI of some rank is not known, as in older profiles.
std::optional<Efficiency> efficiency_of(const Profile& profile);

}  // namespace halcyon
