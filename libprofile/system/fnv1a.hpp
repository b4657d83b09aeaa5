// FNV-1a, a hash for names and short sequences that is the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace halcyon {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325u;

constexpr std::uint64_t fnv1a_step(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * 0x100000001b3u; }

constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = fnv1a_start) {
  for (const char byte : bytes) hash = fnv1a_step(hash, static_cast<unsigned char>(byte));
  return hash;
}

}  // namespace halcyon
