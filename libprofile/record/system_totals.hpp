// What the operating system has counted so far of this process and its host.
#pragma once

#include "libprofile/format/evidence.hpp"

namespace halcyon {

/// Sums since moments in the past; the difference of two readings is what happened between them. For the thread that
/// calls MPI. Some tens of microseconds, and some more for each other thread: for the start and the end of a run.
EvidenceValues system_totals();

}  // namespace halcyon
