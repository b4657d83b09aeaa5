// The segments of one rank as they lie in memory and in a part: columns of small numbers, 4096 segments a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>

#include "libprofile/format/features.hpp"
#include "libprofile/format/measures.hpp"
#include "libprofile/record/block/packed_shares.hpp"

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
  template <class T>
  using Column = std::array<T, capacity>;

  std::array<Column<float>, count_of(Kept::whole)> whole;  // ticks
  Column<PackedShares> shares;
  std::array<Column<std::uint8_t>, feature_count> slots;
  Column<std::uint8_t> sites;
  std::array<Column<float>, count_of(Kept::with_intm)> with_intm;  // ns
  // Of a closed block: slots at its start -> slots at its end, for the features whose bit of `mapped` is set.
  std::array<SlotMap, feature_count> maps;
  std::uint64_t mapped;

  bool is_mapped(std::size_t feature) const { return (mapped >> feature & 1) != 0; }
};
static_assert(std::is_trivially_copyable_v<SegmentBlock> && feature_count <= 64);

/// The version of what visit_columns() and part_file.hpp lay down in a part. Counts up with each change of either.
inline constexpr std::uint32_t part_version = 3;

/// The columns of the first `count` segments of a block but the slots, in the order in which they lie in a part:
/// `visit(bytes)` each.
template <class Block, class Visit>
void visit_columns(Block& block, std::size_t count, bool with_injection, Visit&& visit) {
  using Byte = std::conditional_t<std::is_const_v<Block>, const std::byte, std::byte>;
  const auto column = [&](auto& values) {
    visit(std::span<Byte>(reinterpret_cast<Byte*>(values.data()), count * sizeof(values[0])));
  };
  for (auto& values : block.whole) column(values);
  column(block.shares);
  column(block.sites);
  if (!with_injection) return;
  for (auto& values : block.with_intm) column(values);
}

/// A whole, closed block as it lies in a part: its columns, its slots, and what became of these.
template <class Block, class Visit>
void visit_closed_block(Block& block, bool with_injection, Visit&& visit) {
  using Byte = std::conditional_t<std::is_const_v<Block>, const std::byte, std::byte>;
  visit_columns(block, SegmentBlock::capacity, with_injection, visit);
  visit(std::span<Byte>(reinterpret_cast<Byte*>(block.slots.data()), sizeof block.slots));
  visit(std::span<Byte>(reinterpret_cast<Byte*>(block.maps.data()), sizeof block.maps));
  visit(std::span<Byte>(reinterpret_cast<Byte*>(&block.mapped), sizeof block.mapped));
}

/// How many pieces visit_closed_block() visits, at most.
inline constexpr std::size_t most_pieces_of_block =
    count_of(Kept::whole) + count_of(Kept::with_intm) + 5;  // shares, sites, slots, maps, mapped

/// Bytes of a closed block in a part.
constexpr std::size_t block_bytes(bool with_injection) {
  const std::size_t floats = count_of(Kept::whole) + (with_injection ? count_of(Kept::with_intm) : 0);
  return SegmentBlock::capacity * (floats * sizeof(float) + sizeof(PackedShares) + 1 + feature_count) +
         feature_count * sizeof(SlotMap) + sizeof(std::uint64_t);
}

/// Tells parts of other tables apart, where somebody changed one and forgot part_version.
constexpr std::uint64_t layout_of_part() {
  std::uint64_t hash = feature_count;
  for (const MeasureInfo& info : measures) {
    hash = hash * 1000003 + static_cast<std::uint64_t>(info.measure) * 1024 +
           static_cast<std::uint64_t>(info.kept) * 64 + info.bits;
  }
  for (const FeatureInfo& info : features) {
    for (const char c : info.name) hash = hash * 1000003 + static_cast<unsigned char>(c);
  }
  return hash;
}

struct FreeBlock {
  void operator()(SegmentBlock* block) const { std::free(block); }
};
using OwnedBlock = std::unique_ptr<SegmentBlock, FreeBlock>;

/// All zero; null where memory ends. By calloc, which takes fresh pages as they are.
inline OwnedBlock empty_block() { return OwnedBlock(static_cast<SegmentBlock*>(std::calloc(1, sizeof(SegmentBlock)))); }

}  // namespace halcyon
