// The fields of a segment: one list of names and values for CSV tables and traces.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/judge/judged_segments.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

/// No value if it is not known. Numbers are exactly those of the profile. Texts are those of the profile and may
/// contain any bytes.
using SegmentValue = std::variant<std::monostate, bool, std::uint64_t, float, double, std::string_view>;

struct SegmentField {
  std::string name;  // includes the unit: a table has no other place for it
  std::function<SegmentValue(const JudgedSegment& segment)> value;
};

/// The same fields for every profile, even if it does not have all columns. The result refers to the profile.
std::vector<SegmentField> segment_fields(const Profile& profile);

/// Segments are written out in pieces of this size, so that memory does not grow with their number.
inline constexpr std::size_t piece_bytes = std::size_t{1} << 18;
/// Called after each piece with the number of segments written so far.
using SegmentsDone = std::function<void(std::uint64_t segments)>;

}  // namespace halcyon
