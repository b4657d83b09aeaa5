// What ends segments: the operations, the choices of --boundary, and how many segments a verdict needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halcyon {

/// The operation that ends a segment. `step`: any call that recurs on a rank.
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
  step,
  finalize,
};
inline constexpr std::array<std::string_view, 15> boundary_names{"barrier",    "allreduce",      "allgather",
                                                                 "allgatherv", "alltoall",       "alltoallv",
                                                                 "alltoallw",  "reduce_scatter", "reduce_scatter_block",
                                                                 "bcast",      "scatter",        "scatterv",
                                                                 "pcontrol",   "step",           "finalize"};
static_assert(static_cast<std::size_t>(Boundary::finalize) + 1 == boundary_names.size());

constexpr std::string_view name_of(Boundary operation) { return boundary_names[static_cast<std::size_t>(operation)]; }

/// Which operations end segments. Each Boundary belongs to one of the last three, `step` to none. A profile has the
/// name.
enum class BoundaryChoice { automatic, all_to_all, rooted, pcontrol };
inline constexpr std::array<std::string_view, 4> boundary_choice_names{"auto", "all-to-all", "rooted", "pcontrol"};

constexpr std::string_view name_of(BoundaryChoice choice) {
  return boundary_choice_names[static_cast<std::size_t>(choice)];
}

/// A run with fewer segments that repeat has no verdict: the mean of its excess is not near normal, and its interval
/// means nothing (the usual rule of thumb).
inline constexpr std::uint32_t fewest_judged_segments = 30;

}  // namespace halcyon
