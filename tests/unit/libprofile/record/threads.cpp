#include "libprofile/record/threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

namespace {

using halcyon::Feature;
using halcyon::Threads;
using halcyon::ThreadState;

std::uint64_t writes_in_features(const Threads& threads) {
  std::uint64_t writes = 0;
  threads.for_each_count(
      [&](std::size_t feature, std::uint64_t sum) {
        if (feature == halcyon::index_of(Feature::writes)) writes = sum;
      },
      [](std::size_t, std::uint64_t) {});
  return writes;
}

std::uint64_t writes_of(const Threads& threads) {
  std::uint64_t others = 0;
  threads.for_each_count([](std::size_t, std::uint64_t) {},
                         [&](std::size_t feature, std::uint64_t sum) {
                           if (feature == halcyon::index_of(Feature::writes)) others = sum;
                         });
  return writes_in_features(threads) + others;
}

// All tests use one object, as a process does: the states are static.
Threads& all_threads() {
  static Threads threads;
  return threads;
}

TEST(Threads, TheCountsOfThreadsThatHaveEndedStay) {
  Threads& threads = all_threads();
  const std::uint64_t before = writes_of(threads);
  for (int i = 0; i < 1000; ++i) {
    std::thread([&threads] { threads.enter({}).add(Feature::writes, 1); }).join();
  }
  EXPECT_EQ(writes_of(threads) - before, 1000u);
}

TEST(Threads, OnlyThreadsThatEndSegmentsCountInFeatures) {
  Threads& threads = all_threads();
  const std::uint64_t before = writes_in_features(threads);
  for (int i = 0; i < 100; ++i) {
    std::thread([&threads] { threads.enter({}).add(Feature::writes, 5); }).join();
  }
  EXPECT_EQ(writes_in_features(threads), before);
  for (int i = 0; i < 100; ++i) {
    std::thread([&threads] {
      ThreadState& thread = threads.enter({});
      thread.add(Feature::writes, 3);  // of its first segment
      thread.ends_segments.store(true);
      thread.add(Feature::writes, 4);
    }).join();
    std::thread([&threads] { threads.enter({}).add(Feature::writes, 5); }).join();
  }
  EXPECT_EQ(writes_in_features(threads) - before, 700u);
}

TEST(Threads, ThreadsThatRunAtTheSameTimeHaveStatesOfTheirOwn) {
  Threads& threads = all_threads();
  constexpr int count = 200;
  std::vector<ThreadState*> states(count);
  std::barrier all_have_entered(count);
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < count; ++i) {
      running.emplace_back([&, i] {
        states[static_cast<std::size_t>(i)] = &threads.enter({});
        all_have_entered.arrive_and_wait();
      });
    }
  }
  std::sort(states.begin(), states.end());
  EXPECT_EQ(std::unique(states.begin(), states.end()), states.end());
}

TEST(Threads, ANewThreadTakesOverNothingButTheSums) {
  Threads& threads = all_threads();
  for (int i = 0; i < 300; ++i) {
    std::thread([&threads] {
      ThreadState& state = threads.enter({});
      EXPECT_EQ(state.fortran_site, nullptr);
      EXPECT_FALSE(state.gathering.is_known());
      state.fortran_site = &state;
      state.gathering.at(3);
    }).join();
  }
}

// The child has the thread-local variables of its parent's thread, and a number that the next child may have.
TEST(Threads, AChildOfVforkLeavesItsParentsThreadWithoutAState) {
  std::thread([&threads = all_threads()] {
    const pid_t child = vfork();
    if (child == 0) {
      threads.enter({});
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    EXPECT_EQ(halcyon::this_thread, nullptr);
  }).join();
  EXPECT_FALSE(all_threads().has_left_out_threads());
}

TEST(Threads, ThreadsBeyondTheMostAreLeftOutAndTold) {
  Threads& threads = all_threads();
  EXPECT_FALSE(threads.has_left_out_threads());
  std::barrier all_have_entered(Threads::most + 1);
  {
    std::vector<std::jthread> running;
    for (std::uint32_t i = 0; i < Threads::most + 1; ++i) {
      running.emplace_back([&] {
        threads.enter({});
        all_have_entered.arrive_and_wait();
      });
    }
  }
  EXPECT_TRUE(threads.has_left_out_threads());
}

}  // namespace
