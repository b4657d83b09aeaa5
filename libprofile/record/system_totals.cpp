#include "libprofile/record/system_totals.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/number_at.hpp"
#include "libprofile/system/thread_times.hpp"

namespace halcyon {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double seconds_of(const std::optional<std::uint64_t>& nanoseconds) {
  return nanoseconds ? 1e-9 * static_cast<double>(*nanoseconds) : unknown;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

// The number after the first `key` in a file, after `skipped` other numbers. Reads only the beginning of the file.
double SystemTotals::number_in(const char* path, const char* key, int skipped) {
  const Descriptor file(direct::open(path, O_RDONLY));
  if (!file) return unknown;
  const ssize_t size = direct::read(file.number(), text_.data(), text_.size() - 1);
  text_[size > 0 ? static_cast<std::size_t>(size) : 0] = '\0';
  const char* at = std::strstr(text_.data(), key);
  if (at == nullptr) return unknown;
  at += std::strlen(key);
  for (; skipped > 0; --skipped) number_at(at);
  return number_at(at);
}

// The names in a directory: getdents64(2). readdir would allocate.
template <class Visit>
void SystemTotals::for_each_name(int directory, Visit visit) {
  constexpr std::size_t length_at = 16;  // after the numbers of this file and the next
  constexpr std::size_t name_at = 19;
  for (;;) {
    const long got = syscall(SYS_getdents64, directory, entries_.data(), entries_.size());
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      std::uint16_t length = 0;
      std::memcpy(&length, &entries_[at + length_at], sizeof length);
      visit(static_cast<const char*>(&entries_[at + name_at]));
      at += length;
    }
  }
}

struct SystemTotals::CpuWaits {
  double own = unknown;  // of the thread that calls MPI, s
  double others = unknown;
};

// The CPUs that the thread may use.
void SystemTotals::add_cpus_of(pid_t thread) {
  const long bytes = syscall(SYS_sched_getaffinity, thread, sizeof cpus_of_thread_, cpus_of_thread_.data());
  for (std::size_t i = 0; i < cpus_of_thread_.size() && static_cast<long>(i * sizeof cpus_of_thread_[0]) < bytes; ++i) {
    own_cpus_[i] |= cpus_of_thread_[i];
  }
}

// Of the other threads, those that live now.
SystemTotals::CpuWaits SystemTotals::cpu_waits() {
  CpuWaits waits;
  const Descriptor threads(direct::open("/proc/self/task", O_RDONLY | O_DIRECTORY));
  if (!threads) return waits;
  double others = 0.0;
  own_cpus_.fill(0);
  for_each_name(threads.number(), [&](const char* name) {
    const char* at = name;
    const double number = number_at(at);
    if (!(number > 0.0)) return;
    const auto thread = static_cast<pid_t>(number);
    add_cpus_of(thread);
    const double wait = seconds_of(cpu_wait_of(threads.number(), thread));
    if (thread == thread_) {
      waits.own = wait;
    } else if (wait > 0.0) {  // unknown of a thread that has just ended
      others += wait;
    }
  });
  if (waits.own >= 0.0) waits.others = others;
  return waits;
}

void SystemTotals::begin() {
  thread_ = direct::thread_id();
  ticks_per_second_ = static_cast<double>(sysconf(_SC_CLK_TCK));
  cpus_ = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  std::string groups;
  if (const Descriptor file(direct::open("/proc/self/cgroup", O_RDONLY)); file) {
    for (ssize_t got = 0; (got = direct::read(file.number(), text_.data(), text_.size())) > 0;) {
      groups.append(text_.data(), static_cast<std::size_t>(got));
    }
  }
  groups_ = control_groups(groups);
  throttled_.assign(groups_.size(), 0.0);
}

// A limit may be set and lifted, and a group may vanish, while the program runs.
void SystemTotals::set_limits(EvidenceValues& totals) {
  double& least = totals[index_of(Evidence::cpu_limit)];
  double& throttled = totals[index_of(Evidence::throttled)];
  throttled = 0.0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const ControlGroup& group = groups_[i];
    const double quota = number_in(group.quota.c_str(), "", 0);
    const double period =
        group.period.empty() ? number_in(group.quota.c_str(), "", 1) : number_in(group.period.c_str(), "", 0);
    const double cpus = quota / period;
    if (cpus > 0.0 && !(least < cpus)) least = cpus;  // -1: none; NaN is not below
    const double seconds = group.seconds_of_unit * number_in(group.counters.c_str(), group.key, 0);
    if (seconds >= 0.0) throttled_[i] = seconds;
    throttled += throttled_[i];
  }
}

EvidenceValues SystemTotals::read() {
  EvidenceValues totals;
  totals.fill(unknown);
  const auto set = [&totals](Evidence evidence, double value) { totals[index_of(evidence)] = value; };
  set(Evidence::off_cpu, monotonic_seconds() - seconds_of(cpu_time_of(thread_)));
  if (rusage usage{}; getrusage(RUSAGE_SELF, &usage) == 0) {
    set(Evidence::involuntary_switches, static_cast<double>(usage.ru_nivcsw));
    set(Evidence::voluntary_switches, static_cast<double>(usage.ru_nvcsw));
    set(Evidence::minor_faults, static_cast<double>(usage.ru_minflt));
    set(Evidence::major_faults, static_cast<double>(usage.ru_majflt));
    set(Evidence::cpu_time, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
  }
  if (rusage children{}; getrusage(RUSAGE_CHILDREN, &children) == 0) {
    set(Evidence::children_cpu, seconds_of(children.ru_utime) + seconds_of(children.ru_stime));
  }
  // proc(5): user nice system idle iowait irq softirq steal
  constexpr int before_steal = 7;
  set(Evidence::steal, number_in("/proc/stat", "cpu ", before_steal) / ticks_per_second_);
  // Pressure stall information (Linux 4.20): "some avg10=… avg60=… avg300=… total=MICROSECONDS" is the first line.
  const auto pressure_seconds = [this](const char* path) { return 1e-6 * number_in(path, "total=", 0); };
  set(Evidence::cpu_pressure, pressure_seconds("/proc/pressure/cpu"));
  set(Evidence::io_pressure, pressure_seconds("/proc/pressure/io"));
  set(Evidence::memory_pressure, pressure_seconds("/proc/pressure/memory"));
  const CpuWaits waits = cpu_waits();
  set(Evidence::cpu_wait, waits.own);
  set(Evidence::cpu_wait_of_others, waits.others);
  double own_cpus = 0.0;
  for (const std::uint64_t cpus : own_cpus_) own_cpus += std::popcount(cpus);
  if (own_cpus > 0.0) {
    set(Evidence::own_cpus, own_cpus);
    std::size_t word = 0;
    while (own_cpus_[word] == 0) ++word;
    set(Evidence::first_cpu, static_cast<double>(64 * word) + std::countr_zero(own_cpus_[word]));
  }
  // RetransSegs of the Tcp line. The first value of this line is always 1 (RtoAlgorithm), unlike in the line of names.
  constexpr int between_algorithm_and_retransmissions = 10;
  set(Evidence::tcp_retransmissions,
      number_in("/proc/self/net/snmp", "\nTcp: 1 ", between_algorithm_and_retransmissions));
  set(Evidence::cpus, cpus_);
  set_limits(totals);
  return totals;
}

}  // namespace halcyon
