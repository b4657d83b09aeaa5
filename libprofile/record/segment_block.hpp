// The segments of one rank as they lie in memory and in a part file: columns of small numbers, 4096 segments a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "libprofile/format/features.hpp"
#include "libprofile/record/compact_times.hpp"

namespace halcyon {

/// What each slot of a quantizer became.
using SlotMap = std::array<std::uint8_t, 256>;

inline SlotMap identity() {
  SlotMap map;
  for (std::size_t slot = 0; slot < map.size(); ++slot) map[slot] = static_cast<std::uint8_t>(slot);
  return map;
}

/// 32 bytes a segment at most, and what intM added where it is loaded. A feature that never changes stays in slot 0,
/// which is what a new block holds: pages that are never written are never taken from the machine.
struct SegmentBlock {
  static constexpr std::size_t capacity = 4096;

  std::array<float, capacity> durations;  // ticks
  std::array<CompactTimes, capacity> times;
  std::array<std::array<std::uint8_t, capacity>, feature_count> slots;
  std::array<std::uint8_t, capacity> sites;
  // Of a closed block: slots at its start -> slots at its end, for the features whose bit of `mapped` is set.
  std::array<SlotMap, feature_count> maps;
  std::uint64_t mapped;
  std::array<std::array<float, capacity>, 2> injected;  // ns, requested and actual; last: left out without intM

  bool is_mapped(std::size_t feature) const { return (mapped >> feature & 1) != 0; }
};
static_assert(std::is_trivially_copyable_v<SegmentBlock> && feature_count <= 64);

struct FreeBlock {
  void operator()(SegmentBlock* block) const { std::free(block); }
};
using OwnedBlock = std::unique_ptr<SegmentBlock, FreeBlock>;

/// All zero; null where memory ends. By calloc, which takes fresh pages as they are.
inline OwnedBlock empty_block() { return OwnedBlock(static_cast<SegmentBlock*>(std::calloc(1, sizeof(SegmentBlock)))); }

/// What of a block is used.
constexpr std::size_t block_bytes(bool with_injection) {
  return with_injection ? sizeof(SegmentBlock) : offsetof(SegmentBlock, injected);
}

}  // namespace halcyon
