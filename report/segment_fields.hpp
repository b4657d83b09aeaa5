// What is told of each segment: one list of names and values for CSV tables and traces.
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

  std::string name;  // with the unit, since a table has no other place for it
  Type type = Type::number;
  /// Nothing where it is not known. Numbers are those of the profile to the last bit. As in the profile, texts may be
  /// anything.
  std::function<void(fmt::memory_buffer& out, const JudgedSegment& segment)> append;
};

/// The same for every profile, also where it does not know a field. Refers to the profile.
std::vector<SegmentField> segment_fields(const Profile& profile);

/// Text that grows piece by piece is handed on in pieces: a segment must not cost memory.
inline constexpr std::size_t piece_bytes = std::size_t{1} << 18;
/// Told after each piece, how many segments are done.
using SegmentsDone = std::function<void(std::uint64_t segments)>;

}  // namespace halcyon
