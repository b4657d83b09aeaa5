// Learns the usual time of each kind of call while the program runs, and gives the time that calls take beyond it. Even
// if delays hit a dozen calls in every segment, most single calls are undisturbed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "libprofile/shared/clock.hpp"

namespace halcyon {

/// The usual times of one thread's calls.
class UsualTimes {
 public:
  /// A call from `site` has moved `bytes` bytes and taken `took`. Returns its time beyond the usual if it took more
  /// than twice the usual plus `noticeable`, else 0.
  Ticks beyond(const void* site, std::uint64_t bytes, Ticks took, Ticks noticeable) {
    if (position_ < last_position) ++position_;
    Kind* const kind = find(site, bytes);
    if (kind == nullptr) return {};
    const auto time = static_cast<float>(static_cast<std::int64_t>(took.count));  // signed: one instruction
    const float usual = kind->calls > 0 ? kind->usual : time;
    kind->usual = after(*kind, time);
    if (time <= 2.0F * usual + static_cast<float>(noticeable.count)) return {};
    return {static_cast<std::uint64_t>(time - usual)};
  }

  void segment_begins() { position_ = 0; }

 private:
  // Calls from one place in the program, at one position in a segment, that move about the same number of bytes. One
  // place may exchange data with many neighbours, or for many purposes, each with a different usual time.
  struct Kind {
    std::uint64_t name = 0;
    float usual = 0.0F;       // ticks
    std::uint32_t calls = 0;  // up to first_calls
  };

  // The usual time is the 3 % quantile. Calls as fast as this are undisturbed, even if half of all calls are delayed
  // and several calls of the other side may delay each wait. Steps up and down balance at that quantile, and follow it
  // even if the work changes. The first calls are too few for a 3 % quantile, so their shortest time is used.
  static constexpr std::uint32_t first_calls = 32;
  static constexpr float up = 1.0F / 256.0F;
  static constexpr float down = 32.0F * up;

  static float after(Kind& kind, float time) {
    if (kind.calls < first_calls) {
      const bool is_least = kind.calls++ == 0 || time < kind.usual;
      return is_least ? time : kind.usual;
    }
    return time > kind.usual ? kind.usual * (1.0F + up) + 1.0F : kind.usual * (1.0F - down);
  }

  // Sizes count as the same within a factor of two.
  std::uint64_t name_of(const void* site, std::uint64_t bytes) const {
    constexpr unsigned address_bits = 50;  // of a program
    constexpr unsigned size_bits = 7;
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(site)) ^
           static_cast<std::uint64_t>(std::bit_width(bytes)) << address_bits ^
           static_cast<std::uint64_t>(position_) << (address_bits + size_bits);
  }

  // Null for a new kind if the table has no place for it: such kinds are not tracked.
  Kind* find(const void* site, std::uint64_t bytes) {
    constexpr std::size_t most_tries = 8;
    const std::uint64_t name = name_of(site, bytes);
    const auto hash = static_cast<std::size_t>(name * 0x9e3779b97f4a7c15u >> (64 - table_bits));
    for (std::size_t i = 0; i < most_tries; ++i) {
      Kind& kind = kinds_[(hash + i) % kinds_.size()];
      if (kind.calls > 0 && kind.name == name) return &kind;
      if (kind.calls == 0) {
        kind.name = name;
        return &kind;
      }
    }
    return nullptr;
  }

  static constexpr unsigned last_position = 63;  // shared by all later calls of a segment
  static constexpr unsigned table_bits = 12;

  unsigned position_ = 0;
  std::array<Kind, std::size_t{1} << table_bits> kinds_{};
};

}  // namespace halcyon
