// The operating system's counters of a rank and its host during a run: one list for the recorder, the file and the
// report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libprofile/system/in_order.hpp"

namespace halcyon {

enum class Evidence : std::uint8_t {
  off_cpu,
  involuntary_switches,
  voluntary_switches,
  minor_faults,
  major_faults,
  steal,
  cpu_pressure,
  io_pressure,
  memory_pressure,
  cpu_wait,
  cpu_wait_of_others,
  cpus,
  tcp_retransmissions,
  busy_threads,
  own_cpus,
  work_beyond_least,
  mpi_time,
  side_by_side,
  first_cpu,
  cpu_limit,
  throttled,
  cpu_time,
  children_cpu,
  region_time,
  region_thread_time,
  region_work,
  region_longest_work,
};

struct EvidenceInfo {
  Evidence evidence;
  bool of_host;  // the same for all ranks of a host
  std::string_view name;
  std::string_view units;
  std::string_view description;
  bool is_sum = true;  // over the run; else the value when it was last read
  int since = 2;       // schema version
};

inline constexpr std::array<EvidenceInfo, 27> evidence_infos{{
    {Evidence::off_cpu, false, "off_cpu", "s", "time in which the thread that called MPI_Init was not on a CPU"},
    {Evidence::involuntary_switches, false, "involuntary_switches", "1",
     "times a thread of the process lost its CPU, sched_yield included"},
    {Evidence::voluntary_switches, false, "voluntary_switches", "1", "times a thread of the process gave up its CPU"},
    {Evidence::minor_faults, false, "minor_faults", "1", "page faults answered from memory"},
    {Evidence::major_faults, false, "major_faults", "1", "page faults answered from a disk"},
    {Evidence::steal, true, "steal", "s", "CPU time that a hypervisor took from the rank's host, sum over its CPUs"},
    {Evidence::cpu_pressure, true, "cpu_pressure", "s", "time in which some task of the rank's host waited for a CPU"},
    {Evidence::io_pressure, true, "io_pressure", "s", "time in which some task of the rank's host waited for I/O"},
    {Evidence::memory_pressure, true, "memory_pressure", "s",
     "time in which some task of the rank's host waited for memory"},
    {Evidence::cpu_wait, false, "cpu_wait", "s",
     "time in which the thread that called MPI_Init was ready to run and had no CPU"},
    {Evidence::cpu_wait_of_others, false, "cpu_wait_of_others", "s",
     "the same of the other threads of the process, sum over those that lived at the end"},
    {Evidence::cpus, true, "cpus", "1", "CPUs of the rank's host", false},
    {Evidence::tcp_retransmissions, true, "tcp_retransmissions", "1", "TCP segments that the rank's host sent again"},
    {Evidence::busy_threads, false, "busy_threads", "1",
     "threads of the process that were busy at a time, without those that MPI has started; mean over the run", false,
     5},
    {Evidence::own_cpus, false, "own_cpus", "1", "CPUs to which the threads of the process are bound", false, 5},
    {Evidence::work_beyond_least, false, "work_beyond_least", "s",
     "CPU time of the threads that ended segments beyond the least of the busy threads: they spun, or did more", true,
     5},
    {Evidence::mpi_time, false, "mpi_time", "s", "time in calls of MPI of the threads that ended segments", true, 6},
    {Evidence::side_by_side, false, "side_by_side", "s",
     "time by which threads that ended segments at the same time, on communicators of their own, were busy beyond the "
     "segments' durations; and time in regions of OpenMP with tasks or teams within teams, which are not measured",
     true, 8},
    {Evidence::first_cpu, false, "first_cpu", "1",
     "number of the first CPU to which the threads of the process are bound, by which ranks on the same ones are known",
     false, 9},
    {Evidence::cpu_limit, false, "cpu_limit", "1",
     "CPUs that the rank's control groups let their processes use at a time; NaN without a limit", false, 10},
    {Evidence::throttled, false, "throttled", "s",
     "time for which such limits held processes of these groups back, sum over CPUs", true, 10},
    {Evidence::cpu_time, false, "cpu_time", "s", "CPU time of all threads of the process", true, 10},
    {Evidence::children_cpu, false, "children_cpu", "s",
     "CPU time of child processes that the rank has waited for, and of theirs", true, 10},
    {Evidence::region_time, false, "region_time", "s", "time in parallel regions of OpenMP that were measured", true,
     10},
    {Evidence::region_thread_time, false, "region_thread_time", "s", "the same, times the threads of each", true, 10},
    {Evidence::region_work, false, "region_work", "s", "work of all threads in these regions", true, 10},
    {Evidence::region_longest_work, false, "region_longest_work", "s",
     "work in each region of the thread that had most, times its threads", true, 10},
}};
static_assert(in_order(evidence_infos, &EvidenceInfo::evidence));

inline constexpr std::size_t evidence_count = evidence_infos.size();

constexpr std::size_t index_of(Evidence evidence) { return static_cast<std::size_t>(evidence); }

/// One value per counter; NaN if the kernel does not provide it.
using EvidenceValues = std::array<double, evidence_count>;

}  // namespace halcyon
