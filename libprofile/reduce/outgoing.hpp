// The frames of a profile, as the process that writes the file gets them (format/stream.hpp).
#pragma once

#include <string>
#include <vector>

#include "libprofile/format/module.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/record/facts.hpp"
#include "libprofile/reduce/merge.hpp"

namespace halcyon {

/// What is true of the whole run, beside its facts.
struct RunEnd {
  std::string exit_state;
  std::string incomplete;    // empty, or what of the run is missing
  std::string disagreement;  // empty, or how the ranks' boundaries differ
  std::size_t segments = 0;
  std::uint64_t dropped = 0;  // more of them, that not every rank could store
};

/// `figures`: of all ranks, in order; those that nothing is known of are lost_rank().
void send_facts(const RunFacts& facts, const std::vector<RankFigures>& figures, const RunEnd& end, FrameWriter& frames);

/// The figures of a rank that left nothing.
RankFigures lost_rank();

/// The tables that are the same for all owners. `modules`: those of the call sites, on the first rank.
void send_bins(const OwnedSegments& owned, const std::vector<Module>& modules, FrameWriter& frames);

struct OutgoingColumn {
  std::string name;
  ElementType type;
  const std::byte* data;
};

/// The columns of a share of segments, in the same order for every owner.
std::vector<OutgoingColumn> columns_of(const OwnedSegments& owned, bool with_injection);

}  // namespace halcyon
