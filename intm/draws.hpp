// Random draws that depend on (seed, rank, stream, event) only, not on timing or on the draws of other streams.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace halcyon {

struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t rank = 0;
  std::uint64_t stream = 0;  // number of the SPEC
};

/// SplitMix64's finaliser: every input bit affects every output bit.
inline std::uint64_t scramble(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Draw number `which` of event `event`, uniform in (0, 1).
inline double uniform(const DrawKey& key, std::uint64_t event, std::uint64_t which) {
  const std::uint64_t stream = scramble(scramble(scramble(key.seed) + key.rank) + key.stream);
  const std::uint64_t bits = scramble(scramble(stream + event) + which) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

/// A normal draw (Box and Muller 1958), cut off at zero, since a delay cannot be negative.
inline double normal_delay(const DrawKey& key, std::uint64_t event, double mean, double deviation) {
  const double radius = std::sqrt(-2.0 * std::log(uniform(key, event, 1)));
  const double angle = 2.0 * std::numbers::pi * uniform(key, event, 2);
  const double value = mean + deviation * radius * std::cos(angle);
  return value > 0.0 ? value : 0.0;
}

}  // namespace halcyon
