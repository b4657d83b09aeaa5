// From what each rank recorded to one profile of the run, over any exchange and into any sink.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libprofile/format/module.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/format/sink.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/store/segment_store.hpp"

namespace halcyon {

/// What a rank brings to the merging.
struct RankRecording {
  const SegmentStore* store = nullptr;
  /// How many of its segments can be merged, from the first on: none where the store could not be settled.
  std::uint64_t segments = 0;
  std::vector<std::string> sites;    // by the store's site indices
  std::vector<Module> modules;       // that these are in
  std::uint64_t boundary_kinds = 0;  // a hash of the kinds of all boundaries, in order
  RunFacts facts;
  RankFigures figures;
};

/// The run as far as this process has it.
struct MergedRun {
  /// At the root all but the segments of the other owners, which `segments` of it counts; elsewhere this rank's share
  /// of the segments alone.
  Profile profile;
  std::uint64_t segments = 0;  // of the whole run
};

/// Called by the root now and then: how many of its segments are merged, of how many.
using MergeProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Collective. Segments are divided among the ranks: each sees all ranks' rows of its share, a bounded piece at a time,
/// and keeps one row a segment, so that no rank ever holds ranks × segments. Where the ranks' boundaries differ, the
/// profile has no segments, and says how they differ. Throws where memory ends or ranks cannot be reached.
MergedRun merge_run(const Exchange& exchange, const RankRecording& own, const MergeProgress& progress);

/// Collective: the root hands the whole run to the sink. It holds one message of one owner at a time.
void send_merged_run(const Exchange& exchange, const MergedRun& run, Sink& sink);

/// The segments that `rank` owns of `segments`: [first_owned(rank), first_owned(rank + 1)).
std::size_t first_owned(std::size_t segments, int ranks, int rank);

}  // namespace halcyon
