// What a rank did in a segment, other than compute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halcyon {

/// The kinds of time of a segment on a rank; the rest of the duration is computation.
enum class TimeKind : std::uint8_t { point_to_point, collective, boundary, file_io, device };
inline constexpr std::size_t time_kind_count = 5;
inline constexpr std::array<std::string_view, time_kind_count> time_kind_names{"point_to_point", "collective",
                                                                               "boundary", "file_io", "device"};

}  // namespace halcyon
