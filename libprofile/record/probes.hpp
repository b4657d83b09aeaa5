// Probes the machine for some milliseconds just before and just after a run, on every rank at once: how fast registers,
// caches and memory are. The run itself cannot show this.
#pragma once

#include "libprofile/format/probes.hpp"
#include "libprofile/shared/clock.hpp"

namespace halcyon {

/// Takes about 8 ms of wall time, and 1 ms for the registers alone. Without memory, only these are probed; if caches
/// cannot be flushed, only the registers and the L2 cache.
ProbeTimes measure_probes(const Clock& clock, double nanoseconds_per_tick, bool of_registers_alone);

}  // namespace halcyon
