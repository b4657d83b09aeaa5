// The operations that end segments, by the names that call sites have for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halcyon {

/// The operation that ends a segment.
enum class Boundary : std::uint8_t {
  barrier,
  allreduce,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce_scatter,
  reduce_scatter_block,
  bcast,
  scatter,
  scatterv,
  pcontrol,
  finalize,
};
inline constexpr std::array<std::string_view, 14> boundary_names{"barrier",    "allreduce",      "allgather",
                                                                 "allgatherv", "alltoall",       "alltoallv",
                                                                 "alltoallw",  "reduce_scatter", "reduce_scatter_block",
                                                                 "bcast",      "scatter",        "scatterv",
                                                                 "pcontrol",   "finalize"};

constexpr std::string_view name_of(Boundary operation) {
  return boundary_names[static_cast<std::size_t>(operation)];
}

/// A run with fewer segments that repeat has no verdict: the mean of its excess is not near normal, and its interval
/// means nothing (the usual rule of thumb).
inline constexpr std::uint32_t fewest_judged_segments = 30;

}  // namespace halcyon
