// CSV tables by RFC 4180: one row per run, and one row per segment.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "report/json.hpp"
#include "report/segment_fields.hpp"

namespace halcyon {

/// A cell for text from anywhere: legible, and never a formula.
std::string csv_text(std::string_view text);

/// The header: the single values of `report --json` under the same names, and two columns, NAME_low and NAME_high, for
/// each interval.
std::string runs_csv_header();
/// The row of one run.
std::string run_csv(const AnalyzedFile& run);

/// A row for every segment of a run. `grouping` must be that of the profile. Stops when `out` fails.
void write_segments_csv(std::ostream& out, const AnalyzedFile& run, const Grouping& grouping, const SegmentsDone& done);

}  // namespace halcyon
