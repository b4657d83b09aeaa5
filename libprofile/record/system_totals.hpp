// The operating system's counters of this process and its host.
#pragma once

#include "libprofile/format/evidence.hpp"

namespace halcyon {

/// Sums since some moment in the past: use the difference of two readings. To be called by the thread that calls MPI.
/// Takes some tens of microseconds, and more for each other thread, so not for every segment.
EvidenceValues system_totals();

}  // namespace halcyon
