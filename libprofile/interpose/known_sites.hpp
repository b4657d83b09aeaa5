// A set of call sites: a question about a site that takes long to answer is asked only once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halcyon {

/// A cache: of two sites with the same slot, the one added last is kept.
class KnownSites {
 public:
  bool contains(const void* site) const { return place_of(site).load(std::memory_order_relaxed) == site; }
  void add(const void* site) { place_of(site).store(site, std::memory_order_relaxed); }

 private:
  static constexpr unsigned places_as_power = 9;
  using Places = std::array<std::atomic<const void*>, 1u << places_as_power>;

  static std::size_t index_of(const void* site) {
    return reinterpret_cast<std::uintptr_t>(site) * 0x9e3779b97f4a7c15u >> (64 - places_as_power);
  }
  std::atomic<const void*>& place_of(const void* site) { return places_[index_of(site)]; }
  const std::atomic<const void*>& place_of(const void* site) const { return places_[index_of(site)]; }

  Places places_{};
};

}  // namespace halcyon
