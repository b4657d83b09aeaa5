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
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, take_turns));
  take_turns();
  for (std::future<void>& other : others) other.get();
}

}  // namespace halcyon
