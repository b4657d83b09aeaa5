// Merges the records of all ranks into one profile of the run, over any exchange and into any sink.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libprofile/format/module.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/format/rank_figures.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/format/sink.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/record/store/segment_store.hpp"

namespace halcyon {

/// The records of one rank, to be merged.
struct RankRecording {
  const SegmentStore* store = nullptr;
  /// Number of its segments that can be merged, counted from the first; 0 if the store could not be settled.
  std::uint64_t segments = 0;
  std::vector<std::string> sites;    // by the store's site indices
  std::vector<Module> modules;       // of the sites
  std::uint64_t boundary_kinds = 0;  // a hash of the kinds of all boundaries, in order
  RunFacts facts;
  RankFigures figures;
  std::string incomplete;  // what is missing from it, if the rank knows; that of the root counts
};

/// The part of the merged run that this process holds.
struct MergedRun {
  /// At the root: everything except the segments of the other owners; Profile::segments counts those, too. At other
  /// ranks: only the rank's own share of the segments.
  Profile profile;
  std::uint64_t segments = 0;  // of the whole run
};

/// The root calls it from time to time: `done` of `all` its segments are merged.
using MergeProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Collective. The segments are divided among the ranks. Each rank receives all ranks' rows of its share, a bounded
/// piece at a time, and keeps one row per segment, so that no rank ever holds ranks × segments. If the ranks'
/// boundaries differ, the profile has no segments, and says how they differ. Throws if memory runs out or ranks cannot
/// be reached.
MergedRun merge_run(const Exchange& exchange, const RankRecording& own, const MergeProgress& progress);

/// Collective. The root passes the whole run to the sink; it holds some ten MiB of it at a time.
void send_merged_run(const Exchange& exchange, const MergedRun& run, Sink& sink);

/// The memory, in bytes, that merging may need at a rank.
std::size_t memory_to_merge(std::size_t segments, int ranks);

/// The segments that `rank` owns of `segments`: [first_owned(rank), first_owned(rank + 1)).
std::size_t first_owned(std::size_t segments, int ranks, int rank);

}  // namespace halcyon
