// Does the same work for many items at the same time, on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace halcyon {

/// Calls `work` with each number below `count` once, on as many threads as there are processors. What `work` does for
/// one number must not depend on the others.
template <class Work>
void for_each_in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t threads = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(take_turns));
  take_turns();
  for (std::future<void>& other : others) other.get();
}

/// Sums over values in pieces, which are summed at the same time. `work(sums, first, end)` adds the values from `first`
/// to before `end` to sums that begin with `zero`. The number of pieces is fixed, so that the rounding of sums does not
/// depend on the machine. Returns the sums of each piece, in order.
template <class Sums, class Work>
std::vector<Sums> sums_of_pieces(std::size_t value_count, const Sums& zero, const Work& work) {
  constexpr std::size_t piece_count = 4;
  std::vector<Sums> pieces(piece_count, zero);
  for_each_in_parallel(piece_count, [&](std::size_t piece) {
    work(pieces[piece], value_count * piece / piece_count, value_count * (piece + 1) / piece_count);
  });
  return pieces;
}

}  // namespace halcyon
