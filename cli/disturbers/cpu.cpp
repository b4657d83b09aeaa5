#include <sched.h>
#include <time.h>

#include <cstdint>

#include "cli/disturbers/kinds.hpp"

namespace halcyon::cli {
namespace {

constexpr std::uint64_t piece_nanoseconds = 1'000'000;

void stay_on_first_core() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

std::uint64_t nanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

int cpu_workers() { return 1; }

Outcome<Piece> cpu_work(const WorkerPlace&) {
  stay_on_first_core();
  return Piece([]() -> Outcome<std::uint64_t> {
    const std::uint64_t before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    const std::uint64_t end = nanoseconds(CLOCK_MONOTONIC) + piece_nanoseconds;
    while (nanoseconds(CLOCK_MONOTONIC) < end) {
    }
    return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before;
  });
}

}  // namespace halcyon::cli
