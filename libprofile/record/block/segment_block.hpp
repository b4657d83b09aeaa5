// The segments of one rank, in memory and in a part: columns of small numbers, 4096 segments per block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>

#include "libprofile/format/evidence.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/format/measures.hpp"
#include "libprofile/format/probes.hpp"
#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/block/packed_shares.hpp"

namespace halcyon {

/// For each slot of a quantizer: the slot that it has become by merges.
using SlotMap = std::array<std::uint8_t, 256>;

inline SlotMap identity() {
  SlotMap map;
  for (std::size_t slot = 0; slot < map.size(); ++slot) map[slot] = static_cast<std::uint8_t>(slot);
  return map;
}

/// At most 39 bytes per segment, 32 without devices and gaps, up to 7 more for bins and their maps, and more if intM is
/// loaded.
/// A feature that never changes stays in slot 0, the initial value of a new block: its pages are never written, and so
/// never allocated.
struct SegmentBlock {
  static constexpr std::size_t capacity = 4096;
  template <class T>
  using Column = std::array<T, capacity>;

  std::array<Column<float>, count_of(Kept::whole)> whole;
  Column<PackedShares> shares;
  std::array<Column<std::uint8_t>, feature_count> slots;
  Column<std::uint8_t> sites;
  std::array<Column<float>, count_of(Kept::with_intm)> with_intm;
  // In a closed block: maps from slots at its start to slots at its end, for the features whose bit in `mapped` is set.
  std::array<SlotMap, feature_count> maps;
  std::uint64_t mapped;
  // In a closed block: the bins of each feature at its end, and the value of each bin in order of slot, feature by
  // feature. So a block can be read even if everything after it is lost.
  std::array<std::uint16_t, feature_count> bin_counts;
  std::array<float, feature_count * std::tuple_size_v<SlotMap>> bin_values;

  bool is_mapped(std::size_t feature) const { return (mapped >> feature & 1) != 0; }
  /// Of all features; more than bin_values has if the block was not read from a whole one.
  std::size_t bins() const {
    std::size_t bins = 0;
    for (const std::uint16_t count : bin_counts) bins += count;
    return bins;
  }
};
static_assert(std::is_trivially_copyable_v<SegmentBlock> && feature_count <= 64);

/// The version of a part's layout, as visit_columns(), part_file.hpp, store/tail.hpp and format/rank_figures.hpp define
/// it. Goes up with each change of any of them.
inline constexpr std::uint32_t part_version = 14;

/// Calls `visit(bytes)` for each column of the first `count` segments of a block except the slots, in their order in a
/// part.
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

/// A whole, closed block, in its order in a part: its columns, its slots, their maps, and the first `bins` values of
/// bins.
template <class Block, class Visit>
void visit_closed_block(Block& block, bool with_injection, std::size_t bins, Visit&& visit) {
  using Byte = std::conditional_t<std::is_const_v<Block>, const std::byte, std::byte>;
  visit_columns(block, SegmentBlock::capacity, with_injection, visit);
  visit(std::span<Byte>(reinterpret_cast<Byte*>(block.slots.data()), sizeof block.slots));
  visit(std::span<Byte>(reinterpret_cast<Byte*>(block.maps.data()), sizeof block.maps));
  visit(std::span<Byte>(reinterpret_cast<Byte*>(&block.mapped), sizeof block.mapped));
  visit(std::span<Byte>(reinterpret_cast<Byte*>(block.bin_counts.data()), sizeof block.bin_counts));
  visit(std::span<Byte>(reinterpret_cast<Byte*>(block.bin_values.data()), bins * sizeof(float)));
}

/// The most pieces that visit_closed_block() visits.
inline constexpr std::size_t most_pieces_of_block =
    count_of(Kept::whole) + count_of(Kept::with_intm) + 7;  // shares, sites, slots, maps, mapped, two of bins

/// Size of a closed block in a part up to its maps, and the most that it takes in all.
constexpr std::size_t bytes_before_maps(bool with_injection) {
  const std::size_t floats = count_of(Kept::whole) + (with_injection ? count_of(Kept::with_intm) : 0);
  return SegmentBlock::capacity * (floats * sizeof(float) + sizeof(PackedShares) + 1 + feature_count);
}
static_assert(bytes_before_maps(false) == 39 * SegmentBlock::capacity,
              "change the 39 bytes above, and the sizes in docs/recover.md, docs/performance.md and docs/scale.md");
inline constexpr std::size_t most_block_bytes = bytes_before_maps(true) + sizeof(SegmentBlock::maps) +
                                                sizeof(SegmentBlock::mapped) + sizeof(SegmentBlock::bin_counts) +
                                                sizeof(SegmentBlock::bin_values);

/// Rejects a part that was written with other tables or figures, in case somebody changes one and forgets part_version.
constexpr std::uint64_t layout_of_part() {
  std::uint64_t hash = feature_count * 1000003 + rank_figures_size;
  const auto add = [&hash](std::uint64_t value) { hash = hash * 1000003 + value; };
  for (const MeasureInfo& info : measures) {
    add(static_cast<std::uint64_t>(info.measure) * 1024 + static_cast<std::uint64_t>(info.kept) * 64 + info.bits);
  }
  const auto add_names = [&add](const auto& infos) {
    for (const auto& info : infos) {
      for (const char c : info.name) add(static_cast<unsigned char>(c));
    }
  };
  add_names(features);
  add_names(evidence_infos);
  add_names(probe_infos);
  return hash;
}

struct FreeBlock {
  void operator()(SegmentBlock* block) const { std::free(block); }
};
using OwnedBlock = std::unique_ptr<SegmentBlock, FreeBlock>;

/// All zero; null if memory runs out. calloc does not touch fresh pages, which are zero already.
inline OwnedBlock empty_block() { return OwnedBlock(static_cast<SegmentBlock*>(std::calloc(1, sizeof(SegmentBlock)))); }

}  // namespace halcyon
