#include "libprofile/record/change_gate.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <csetjmp>
#include <cstddef>
#include <new>
#include <thread>
#include <vector>

namespace {

using halcyon::Change;
using halcyon::ChangeGate;
using halcyon::ThreadState;

sigjmp_buf outside;

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
    for (const int signal : {64, 15, 11}) gate.postpone(signal);
    EXPECT_EQ(answered, 0);
  }
  EXPECT_EQ(answered, 111564);
}

TEST(ChangeGate, AHandlerThatJumpsOutOfItsAnswerCostsNoOtherAnswer) {
  static int answered;
  answered = 0;
  ChangeGate gate;
  ThreadState state;
  gate.answer_signals_by([](int signal) {
    answered = 100 * answered + signal;
    if (signal == 11) siglongjmp(outside, 1);
  });
  if (sigsetjmp(outside, 0) == 0) {
    const Change change(gate, state);
    gate.postpone(15);
    gate.postpone(11);
  }
  EXPECT_EQ(answered, 11);
  { const Change change(gate, state); }
  EXPECT_EQ(answered, 1115);
}

TEST(ChangeGate, AFaultWhileTheRecordsAreSavedIsNotBlocked) {
  ChangeGate gate;
  gate.open();
  const auto is_blocked = [](int signal) {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return sigismember(&blocked, signal) == 1;
  };
  int saved = 0;
  const auto save = [&] {
    ++saved;
    EXPECT_TRUE(is_blocked(SIGTERM));
    EXPECT_FALSE(is_blocked(SIGSEGV) || is_blocked(SIGBUS));
    gate.save([&] { ++saved; });  // as its handler may: it does not wait for itself
  };
  gate.save(save);
  gate.leave(save);
  EXPECT_EQ(saved, 2);
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
