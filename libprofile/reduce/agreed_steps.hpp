// Which calls end the steps of a run that has too few boundaries: a choice that all ranks make together.
#pragma once

#include <memory>

#include "libprofile/merge/exchange.hpp"
#include "libprofile/record/call_sites.hpp"
#include "libprofile/record/recorder.hpp"

namespace halcyon {

/// The steps of this rank, as many as every other rank has.
struct AgreedSteps {
  std::unique_ptr<SegmentStore> segments;
  CallSites sites;
};

/// Whether this rank has steps that it could offer.
bool has_steps(const Recorder& run);

/// Collective; every rank must have some. Null on all ranks if they have none in common, or a rank lacks memory.
std::unique_ptr<AgreedSteps> agree_on_steps(const Exchange& exchange, Recorder& run);

}  // namespace halcyon
