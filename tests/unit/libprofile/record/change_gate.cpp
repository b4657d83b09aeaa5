#include "libprofile/record/change_gate.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>
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

TEST(ChangeGate, SavesAsOftenAsAskedUntilItIsLeft) {
  ChangeGate gate;
  gate.open();
  int saved = 0;
  for (int i = 0; i < 2; ++i) gate.save([&] { ++saved; });
  EXPECT_TRUE(halcyon::recording.load());
  for (int i = 0; i < 2; ++i) gate.leave([&] { ++saved; });
  gate.save([&] { ++saved; });
  EXPECT_EQ(saved, 3);
}

TEST(ChangeGate, SignalsThatComeDuringAChangeAreAnsweredOnceAfterIt) {
  static int answered;
  answered = 0;
  ChangeGate gate;
  ThreadState state;
  gate.answer_signals_by([](int signal) { answered = 100 * answered + signal; });
  for (int i = 0; i < 2; ++i) {
    const Change change(gate, state);
    EXPECT_TRUE(gate.is_changing(&state));
    if (i > 0) continue;
    gate.postpone(15);
    gate.postpone(11);
    EXPECT_EQ(answered, 0);
  }
  EXPECT_EQ(answered, 1115);
}

// As when a signal handler of the program jumps out of it.
TEST(ChangeGate, AChangeThatNeverEndedKeepsItsThreadFromNothing) {
  ChangeGate gate;
  gate.open();
  ThreadState state;
  alignas(Change) std::byte memory[sizeof(Change)];
  new (memory) Change(gate, state);
  { const Change next(gate, state); }
  bool is_saved = false;
  gate.leave([&] { is_saved = true; });
  EXPECT_TRUE(is_saved);
}

}  // namespace
