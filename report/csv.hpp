// Tables by RFC 4180: a row a run, and a row a segment.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "report/json.hpp"
#include "report/segment_fields.hpp"

namespace halcyon {

/// The names of the columns: what the JSON of `report` has as single values, under the same names, and of each interval
/// its two ends, NAME_low and NAME_high.
std::string runs_csv_header();
/// One run.
std::string run_csv(const AnalyzedFile& run);

/// Every segment of a run. `grouping` is the profile's. Ends early where `out` fails.
void write_segments_csv(std::ostream& out, const AnalyzedFile& run, const Grouping& grouping, const SegmentsDone& done);

}  // namespace halcyon
