// What the kernel says of one thread of this process: its time on a CPU, and its waiting for one. Async-signal-safe.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/number_at.hpp"

namespace halcyon {

/// Its CPU time, in ns: the kernel's number of a thread's clock, as in glibc's pthread_getcpuclockid. By a system call:
/// libc would give the same, but asks a table of its own first.
inline std::optional<std::uint64_t> cpu_time_of(int thread) {
  constexpr unsigned of_a_thread_as_scheduled = 6;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | of_a_thread_as_scheduled);
  timespec now{};
  if (syscall(SYS_clock_gettime, clock, &now) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// How long a thread was ready to run since it began, and had no CPU, in ns: the second number of its schedstat
/// (Documentation/scheduler/sched-stats).
inline std::optional<std::uint64_t> cpu_wait_in(int schedstat) {
  std::array<char, 128> text{};
  if (direct::read_at(schedstat, text.data(), text.size() - 1, 0) <= 0) return std::nullopt;
  const char* at = text.data();
  number_at(at);
  const double waited = number_at(at);
  if (!(waited >= 0.0)) return std::nullopt;
  return static_cast<std::uint64_t>(waited);
}

/// The same of a thread by its number, with /proc/self/task, which lists them.
inline std::optional<std::uint64_t> cpu_wait_of(int threads, int thread) {
  std::array<char, 32> path{};
  constexpr std::size_t longest_number = 16;
  char* const end = std::to_chars(path.data(), path.data() + longest_number, thread).ptr;
  std::memcpy(end, "/schedstat", sizeof "/schedstat");
  const Descriptor file(direct::open_at(threads, path.data(), O_RDONLY));
  return cpu_wait_in(file.number());
}

}  // namespace halcyon
