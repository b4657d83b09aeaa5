// The short probes of the machine: one list for the recorder, the file and the report.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "libprofile/system/in_order.hpp"

namespace halcyon {

enum class Probe : std::uint8_t { registers, l2, memory_latency, memory_bandwidth };

struct ProbeInfo {
  Probe probe;
  std::string_view name;  // in files and JSON
  std::string_view words;
  std::string_view description;  // of the recorded time: less is better
  int since = 4;                 // schema version; older profiles lack its columns
};

inline constexpr std::array<ProbeInfo, 4> probe_infos{{
    {Probe::registers, "registers", "registers", "time of a fixed quantum of work in registers"},
    {Probe::l2, "l2", "L2 cache", "time of a load that depends on the one before, within 128 KiB"},
    {Probe::memory_latency, "memory_latency", "memory latency",
     "time of a load that depends on the one before, from memory"},
    {Probe::memory_bandwidth, "memory_bandwidth", "memory bandwidth", "time of 64 bytes in a stream read from memory"},
}};
static_assert(in_order(probe_infos, &ProbeInfo::probe));

inline constexpr std::size_t probe_count = probe_infos.size();

constexpr std::size_t index_of(Probe probe) { return static_cast<std::size_t>(probe); }

/// Times of short repetitions, in seconds; NaN if a probe was not measured.
struct ProbeTime {
  double best = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
};
using ProbeTimes = std::array<ProbeTime, probe_count>;

}  // namespace halcyon
