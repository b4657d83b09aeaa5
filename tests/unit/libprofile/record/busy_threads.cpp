#include "libprofile/record/busy_threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>
#include <semaphore>
#include <thread>
#include <vector>

#include "libprofile/system/direct_calls.hpp"

namespace {

using halcyon::BusyThreads;
using halcyon::Clock;
using halcyon::ClockSource;
using halcyon::CpuClockUse;
using halcyon::thread_cpu_time;

constexpr std::uint64_t work = 2'000'000;  // ns of CPU time in a segment
constexpr int segments = 60;
constexpr int known_after = 21;  // segments, a multiple of 3

// Works for so long on the CPU: others that have it do not matter.
void work_for(std::uint64_t nanoseconds) {
  const std::uint64_t began = thread_cpu_time();
  while (thread_cpu_time() - began < nanoseconds) {
  }
}

// A thread that does one task after another, and sleeps between them.
class Worker {
 public:
  template <class Task>
  explicit Worker(Task task)
      : thread_([this, task] {
          id_.store(halcyon::direct::thread_id());
          for (int segment = 0; segment < segments; ++segment) {
            begin_.acquire();
            task(segment);
            done_.store(segment + 1);
          }
        }) {
    while (id() == 0) {
    }
  }
  int id() const { return id_.load(); }
  void begin() { begin_.release(); }
  bool has_done(int segment) const { return done_.load() > segment; }

 private:
  std::atomic<int> id_{0};
  std::atomic<int> done_{0};
  std::counting_semaphore<> begin_{0};
  std::jthread thread_;
};

struct Segment {
  double own;   // ns
  double work;  // as it is given
  double wait;  // for a CPU
};

// The calling thread and the worker work side by side, and the caller spins until the worker is there. `enders`: who
// ends the segments, in turn; 0 is the caller.
std::vector<Segment> beside(Worker& worker, const std::vector<int>& mpi_threads, const std::vector<int>& enders) {
  static const Clock clock(ClockSource::monotonic);
  BusyThreads busy;
  busy.begin(mpi_threads, CpuClockUse::at(1.0), clock.now());
  std::vector<Segment> all;
  std::uint64_t last = thread_cpu_time();
  for (int segment = 0; segment < segments; ++segment) {
    worker.begin();
    work_for(work);
    while (!worker.has_done(segment)) {
    }
    const std::uint64_t now = thread_cpu_time();
    const auto own = static_cast<double>(now - last);
    last = now;
    const int ender = enders[static_cast<std::size_t>(segment) % enders.size()];
    const double given =
        busy.work_of_segment(ender > 0 ? ender : halcyon::direct::thread_id(), own, false, clock.now(), clock);
    all.push_back({own, given, busy.take_wait()});
  }
  return all;
}

bool is_own(const Segment& segment) { return segment.work == segment.own; }

TEST(BusyThreads, WorkIsThatOfTheThreadThatWasDelayed) {
  Worker worker([](int segment) {
    work_for(work);
    if (segment % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(12));
  });
  const std::vector<Segment> all = beside(worker, {}, {0});
  std::vector<double> delayed;
  for (std::size_t i = known_after; i < all.size(); i += 3) delayed.push_back(all[i].work);
  std::sort(delayed.begin(), delayed.end());
  const double median = delayed[delayed.size() / 2];
  EXPECT_GT(median, 0.9 * static_cast<double>(work));
  EXPECT_LT(median, 1.5 * static_cast<double>(work));
}

// A process that only spins, on the first of the CPUs that this one may use. So does `thread`.
class SpinsBeside {
 public:
  explicit SpinsBeside(int thread) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    int first = 0;
    while (CPU_ISSET(first, &all) == 0) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    child_ = fork();
    if (child_ == 0) {
      sched_setaffinity(0, sizeof one, &one);
      for (;;) {
      }
    }
    is_there_ = child_ > 0 && sched_setaffinity(thread, sizeof one, &one) == 0;
  }
  ~SpinsBeside() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  SpinsBeside(const SpinsBeside&) = delete;
  SpinsBeside& operator=(const SpinsBeside&) = delete;
  bool is_there() const { return is_there_; }

 private:
  pid_t child_ = 0;
  bool is_there_ = false;
};

// How long a thread has waited for a CPU since it began, ns.
double waited_for_cpu(int thread) {
  double ran = 0.0;
  double waited = -1.0;
  std::ifstream("/proc/self/task/" + std::to_string(thread) + "/schedstat") >> ran >> waited;
  return waited;
}

TEST(BusyThreads, TheWaitOfAnotherThreadForACpuIsKnown) {
  std::optional<SpinsBeside> hog;
  std::atomic<double> waited{0.0};
  Worker worker([&](int segment) {
    // Every third segment; the others tell how long one usually takes.
    if (segment >= known_after && segment % 3 == 0) hog.emplace(halcyon::direct::thread_id());
    work_for(work);
    hog.reset();
    waited = waited_for_cpu(halcyon::direct::thread_id());
  });
  double known = 0.0;
  for (const Segment& segment : beside(worker, {}, {0})) known += segment.wait;
  if (waited < 0.0) GTEST_SKIP() << "the kernel does not tell waits for a CPU";
  EXPECT_GT(known, 0.0);
  EXPECT_LE(known, waited * 1.01);
}

TEST(BusyThreads, AHelperThatDoesLittleDoesNotCount) {
  Worker worker([](int) { work_for(work / 20); });
  const std::vector<Segment> all = beside(worker, {}, {0});
  EXPECT_TRUE(std::all_of(all.begin(), all.end(), is_own));
}

TEST(BusyThreads, AThreadOfMpiDoesNotCount) {
  Worker worker([](int) { work_for(work / 2); });
  const std::vector<Segment> all = beside(worker, {worker.id()}, {0});
  EXPECT_TRUE(std::all_of(all.begin(), all.end(), is_own));
}

TEST(BusyThreads, AThreadThatEndsSegmentsItselfDoesNotCountInThoseOfOthers) {
  Worker worker([](int) { work_for(work / 2); });
  const std::vector<Segment> all = beside(worker, {}, {0, worker.id()});
  EXPECT_TRUE(std::all_of(all.begin() + known_after, all.end(), is_own));
}

TEST(BusyThreads, ThreadsThatComeAndGoByTheThousandAreNoTrouble) {
  static const Clock clock(ClockSource::monotonic);
  BusyThreads busy;
  busy.begin({}, CpuClockUse::at(1.0), clock.now());
  for (int i = 0; i < 2000; ++i) {
    std::jthread thread([] { work_for(20'000); });
    EXPECT_GE(busy.work_of_segment(halcyon::direct::thread_id(), 1e6, false, clock.now(), clock), 0.0);
  }
}

}  // namespace
