#include "libprofile/record/system_totals.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "libprofile/system/nanoseconds.hpp"

namespace halcyon {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The whole number after the first `key` in a file of /proc, after `skipped` other ones. Reads only the beginning of
// the file.
double number_in(const char* path, const char* key, int skipped) {
  // Calls the kernel directly: intM, if it is loaded, must not take this for a read by the application.
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return unknown;
  char text[4096];
  const long size = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  text[size > 0 ? size : 0] = '\0';
  const char* at = std::strstr(text, key);
  if (at == nullptr) return unknown;
  at += std::strlen(key);
  for (; skipped >= 0; --skipped) {
    char* end = nullptr;
    const unsigned long long value = std::strtoull(at, &end, 10);
    if (end == at) return unknown;
    if (skipped == 0) return static_cast<double>(value);
    at = end;
  }
  return unknown;
}

// Pressure stall information (Linux 4.20): "some avg10=… avg60=… avg300=… total=MICROSECONDS" is the first line.
double pressure_seconds(const char* path) { return 1e-6 * number_in(path, "total=", 0); }

// The second number is the time in ns that a thread was ready to run and waited (Documentation/scheduler/sched-stats).
double cpu_wait_seconds(int thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", thread);
  return 1e-9 * number_in(path, "", 1);
}

// Sum over all threads that live now, except this one.
double cpu_wait_of_other_threads(int this_thread) {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return unknown;
  double sum = 0.0;
  while (const dirent* entry = readdir(threads)) {
    const int thread = std::atoi(entry->d_name);
    if (thread <= 0 || thread == this_thread) continue;
    // Skips the unknown value of a thread that has just ended.
    if (const double wait = cpu_wait_seconds(thread); wait > 0.0) sum += wait;
  }
  closedir(threads);
  return sum;
}

}  // namespace

EvidenceValues system_totals() {
  EvidenceValues totals;
  totals.fill(unknown);
  const auto set = [&totals](Evidence evidence, double value) { totals[index_of(evidence)] = value; };
  set(Evidence::off_cpu,
      1e-9 * static_cast<double>(nanoseconds_of(CLOCK_MONOTONIC) - nanoseconds_of(CLOCK_THREAD_CPUTIME_ID)));
  if (rusage usage{}; getrusage(RUSAGE_SELF, &usage) == 0) {
    set(Evidence::involuntary_switches, static_cast<double>(usage.ru_nivcsw));
    set(Evidence::voluntary_switches, static_cast<double>(usage.ru_nvcsw));
    set(Evidence::minor_faults, static_cast<double>(usage.ru_minflt));
    set(Evidence::major_faults, static_cast<double>(usage.ru_majflt));
  }
  // proc(5): user nice system idle iowait irq softirq steal
  constexpr int before_steal = 7;
  set(Evidence::steal, number_in("/proc/stat", "cpu ", before_steal) / static_cast<double>(sysconf(_SC_CLK_TCK)));
  set(Evidence::cpu_pressure, pressure_seconds("/proc/pressure/cpu"));
  set(Evidence::io_pressure, pressure_seconds("/proc/pressure/io"));
  set(Evidence::memory_pressure, pressure_seconds("/proc/pressure/memory"));
  const auto thread = static_cast<int>(syscall(SYS_gettid));
  const double wait = cpu_wait_seconds(thread);
  set(Evidence::cpu_wait, wait);
  if (wait >= 0.0) set(Evidence::cpu_wait_of_others, cpu_wait_of_other_threads(thread));
  // RetransSegs of the Tcp line. The first value of this line is always 1 (RtoAlgorithm), unlike in the line of names.
  constexpr int between_algorithm_and_retransmissions = 10;
  set(Evidence::tcp_retransmissions,
      number_in("/proc/self/net/snmp", "\nTcp: 1 ", between_algorithm_and_retransmissions));
  set(Evidence::cpus, static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  return totals;
}

}  // namespace halcyon
