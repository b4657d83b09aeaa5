#include "libprofile/record/change_gate.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using halcyon::Change;
using halcyon::ChangeGate;
using halcyon::ThreadState;

// A thread that ends a segment and one that a regulator has suspended may change the records at once.
TEST(ChangeGate, OneThreadAtATimeChangesTheRecords) {
  constexpr int threads = 4;
  constexpr int rounds = 20'000;
  ChangeGate gate;
  std::vector<ThreadState> states(threads);
  int changes = 0;  // no atomic: the sanitizer looks, too
  {
    std::vector<std::jthread> running;
    for (ThreadState& state : states) {
      running.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          const Change change(gate, state);
          ++changes;
        }
      });
    }
  }
  EXPECT_EQ(changes, threads * rounds);
}

TEST(ChangeGate, IsLeftOnceAndNotDuringAChange) {
  ChangeGate gate;
  gate.open();
  ThreadState state;
  int records = 0;
  int saved = -1;
  std::jthread changing([&] {
    for (bool goes_on = true; goes_on;) {
      const Change change(gate, state);
      goes_on = halcyon::recording.load();
      if (goes_on) ++records;
    }
  });
  std::vector<std::jthread> leaving;
  for (int i = 0; i < 2; ++i) {
    leaving.emplace_back([&] { gate.leave([&] { saved = records; }); });
  }
  leaving.clear();
  changing.join();
  EXPECT_EQ(saved, records);
  EXPECT_FALSE(gate.has_unsaved());
}

}  // namespace
