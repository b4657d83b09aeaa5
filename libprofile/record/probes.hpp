// Some milliseconds of probing the machine just before and just after a run, on every rank at once: how fast its
// registers, caches and memory are, which one run by itself cannot tell.
#pragma once

#include <string>

#include "libprofile/format/probes.hpp"
#include "libprofile/record/clock.hpp"

namespace halcyon {

/// Takes some 8 ms of the clock. Where no memory can be had, or caches cannot be emptied of it, only what needs none is
/// measured.
ProbeTimes measure_probes(const Clock& clock, double nanoseconds_per_tick);

/// The processor's own name, else that of its architecture.
std::string cpu_model();

}  // namespace halcyon
