#include "libprofile/record/cpu_account.hpp"

#include <gtest/gtest.h>

namespace {

using namespace halcyon;

// A thread and its CPU clock, in ticks of a nanosecond.
class Thread {
 public:
  explicit Thread(double ticks_per_nanosecond = 1.0)
      : ticks_per_nanosecond_(ticks_per_nanosecond), use_(CpuClockUse::at(ticks_per_nanosecond)) {
    account_.restart(cpu_);
  }

  /// Nanoseconds that the account takes a stretch to have been on the CPU.
  double stretch(std::uint64_t on, std::uint64_t off = 0) {
    cpu_ += on;
    const Ticks on_cpu = account_.on_cpu(ticks(on + off), use_, [this] {
      ++readings;
      return cpu_;
    });
    return nanoseconds(on_cpu);
  }
  void recorder_works(std::uint64_t on) {
    cpu_ += on;
    account_.skip(ticks(on));
  }
  double off() const { return nanoseconds(account_.off()); }
  int readings = 0;

 private:
  Ticks ticks(std::uint64_t ns) const {
    return {static_cast<std::uint64_t>(static_cast<double>(ns) * ticks_per_nanosecond_)};
  }
  double nanoseconds(Ticks ticks) const { return static_cast<double>(ticks.count) / ticks_per_nanosecond_; }

  double ticks_per_nanosecond_;
  CpuClockUse use_;
  CpuAccount account_;
  std::uint64_t cpu_ = 12'345;
};

TEST(CpuAccount, TellsHowMuchOfALongStretchWasOffTheCpu) {
  for (const double rate : {1.0, 2.4}) {
    Thread thread(rate);
    EXPECT_NEAR(thread.stretch(1'000'000, 4'000'000), 1e6, 2.0);
    EXPECT_NEAR(thread.off(), 4e6, 2.0);
    EXPECT_NEAR(thread.stretch(0, 5'000'000), 0.0, 2.0);
    EXPECT_NEAR(thread.off(), 9e6, 4.0);
  }
}

TEST(CpuAccount, DoesNotCountShortStretchesAgainInTheNextLongOne) {
  Thread thread;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(thread.stretch(100'000), 1e5);
  thread.recorder_works(50'000);
  EXPECT_EQ(thread.stretch(300'000, 700'000), 3e5);
  EXPECT_EQ(thread.off(), 7e5);
}

TEST(CpuAccount, ForgetsWhatHidInShortStretchesBeforeALongOneIsChargedWithIt) {
  Thread thread;
  for (int i = 0; i < 100'000; ++i) thread.stretch(99'000, 1'000);  // 100 ms of interrupts in 10 s
  EXPECT_NEAR(thread.stretch(1'000'000), 1e6, 1e5 + 1e3);           // of the last 10 ms, a hundredth
}

TEST(CpuAccount, ReadsTheClockSeldom) {
  Thread thread;
  for (int i = 0; i < 100'000; ++i) thread.stretch(100'000);
  EXPECT_LE(thread.readings, 1'000);  // in 10 s
  thread.readings = 0;
  thread.stretch(250'000);
  EXPECT_EQ(thread.readings, 1);
}

TEST(CpuAccount, NeverTakesMoreThanTheStretchOrLessThanNothing) {
  Thread thread;
  thread.stretch(0, 150'000);  // hidden: taken as on the CPU
  EXPECT_EQ(thread.stretch(100'000, 200'000), 0.0);
  EXPECT_EQ(thread.off(), 3e5);
}

}  // namespace
