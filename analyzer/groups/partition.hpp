// Divides segments into smaller and smaller parts, by one column of the profile after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace halcyon {

/// Groups below this size are not judged (the paper, section 2).
inline constexpr std::size_t smallest_judged_group = 5;

/// Numbers from 0 to `count` - 1 given to segments. Equal numbers belong together.
struct Partition {
  std::vector<std::uint32_t> of;  // (segments)
  std::uint32_t count = 0;
};

using Bins = std::vector<std::uint16_t>;  // (segments)

/// Segments that agree in all bins form one row. Even with many segments there are few rows, and only rows are
/// compared.
struct Rows {
  std::vector<std::uint32_t> of;        // (segments)
  std::vector<std::uint32_t> first;     // (rows) the first segment of each
  std::vector<std::uint64_t> segments;  // (rows) how many
};
Rows rows_of(std::uint64_t segments, const std::vector<const Bins*>& columns);

enum class Compare { exactly, by_relative_distance };

/// Splits each part of a partition of rows by one binned column. `bins`: the values; may be empty if they are compared
/// exactly.
void refine(Partition& partition, const Rows& rows, const Bins& column, const std::vector<double>& bins,
            Compare compare);

}  // namespace halcyon
