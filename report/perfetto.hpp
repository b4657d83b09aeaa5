// The segments of a run as a trace that Perfetto opens, in its own format (Protocol Buffers).
#pragma once

#include <iosfwd>

#include "report/json.hpp"
#include "report/segment_fields.hpp"

namespace halcyon {

/// One track of all segments, and one per rank with the segments in which it held the others up. `grouping` must be
/// that of the profile. Stops when `out` fails.
void write_perfetto(std::ostream& out, const AnalyzedFile& run, const Grouping& grouping, const SegmentsDone& done);

}  // namespace halcyon
