// The SPEC of an injection: which calls it delays, how often, for how long, on which ranks and when.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// The classes of calls that intM can delay, as bits.
enum InjectedClass : unsigned {
  inject_p2p = 1,
  inject_collective = 2,
  inject_mpiio = 4,
  inject_posixio = 8,
  inject_all = 15
};
/// In the order of the bits.
inline constexpr std::array<std::string_view, 5> injected_class_names{"p2p", "collective", "mpiio", "posixio", "all"};
static_assert(inject_all == (1U << (injected_class_names.size() - 1)) - 1);

struct RankRange {
  int first = 0;
  int last = 0;
};

/// One SPEC. Times in nanoseconds.
struct InjectionSpec {
  unsigned classes = 0;
  double probability = 0.0;
  double mean = 0.0;
  double deviation = 0.0;
  std::vector<RankRange> ranks;  // empty: all
  std::uint64_t after = 0;       // since MPI_Init
  std::optional<std::uint64_t> until;
  std::uint64_t every = 0;  // 0: no bursts
  std::uint64_t burst = 0;  // "for"

  bool concerns(int rank) const;
  bool active_at(std::uint64_t nanoseconds_since_init) const;
};

/// Reads a time such as 5ms, 0.3s, 200us or 50ns. Returns nanoseconds.
std::optional<double> parse_time(std::string_view text);

/// Reads `class=...,prob=...,mean=...,sd=...[,ranks=0-3][,after=2s][,until=9s][,every=1s,for=100ms]`.
Outcome<InjectionSpec> parse_spec(std::string_view text);

/// Several SPECs, separated by white space, as in INTM_SPEC.
Outcome<std::vector<InjectionSpec>> parse_specs(std::string_view text);

}  // namespace halcyon
