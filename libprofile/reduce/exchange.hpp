// Dividing the segments among the ranks: each rank sees all ranks' rows of its share, a bounded piece at a time, and
// keeps one row a segment. No rank ever holds ranks × segments.
#pragma once

#include <algorithm>

#include "libprofile/reduce/merge.hpp"

namespace halcyon {

/// The segments that `rank` owns of `segments`: [first_owned(rank), first_owned(rank + 1)).
inline std::size_t first_owned(std::size_t segments, int ranks, int rank) {
  return segments / static_cast<std::size_t>(ranks) * static_cast<std::size_t>(rank) +
         std::min(segments % static_cast<std::size_t>(ranks), static_cast<std::size_t>(rank));
}

/// Collective: of the first `segments`, which all ranks must have; at least one.
OwnedSegments exchange_segments(const World& world, const RankRecords& own, std::size_t segments);

}  // namespace halcyon
