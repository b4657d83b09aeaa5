// The fields of a segment: one list of names and values for CSV tables and traces.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "analyzer/judge/judged_segments.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

struct SegmentField {
  enum class Type : std::uint8_t { number, boolean, text };

  std::string name;  // includes the unit: a table has no other place for it
  Type type = Type::number;
  /// Appends nothing if the value is not known. Numbers are those of the profile to the last bit. Texts are those of
  /// the profile and may hold any bytes.
  std::function<void(fmt::memory_buffer& out, const JudgedSegment& segment)> append;
};

/// The same fields for every profile, also if it does not have all columns. The result refers to the profile.
std::vector<SegmentField> segment_fields(const Profile& profile);

/// Text is written out in pieces of this size, so that memory does not grow with the number of segments.
inline constexpr std::size_t piece_bytes = std::size_t{1} << 18;
/// Called after each piece with the number of segments written so far.
using SegmentsDone = std::function<void(std::uint64_t segments)>;

}  // namespace halcyon
