// FNV-1a, a hash for names: the same on every machine, and of a few bytes cheaper than any other.
#pragma once

#include <cstdint>
#include <string_view>

namespace halcyon {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325u;

constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = fnv1a_start) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

}  // namespace halcyon
