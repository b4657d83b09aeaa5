// The segments of one rank: columns of small numbers in fixed blocks, at most 32 bytes a segment.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/record/clock.hpp"
#include "libprofile/record/compact_times.hpp"
#include "libprofile/record/quantizer.hpp"

namespace halcyon {

/// What the recorder knows of a segment when it ends.
struct SegmentRow {
  Ticks duration;
  std::array<Ticks, time_kind_count> times{};
  Ticks off_cpu;
  Ticks beyond_usual;  // of its calls
  std::array<double, feature_count> features{};
  std::uint8_t site = 0;
  /// Nanoseconds that intM added; kept only where intM is loaded.
  float injected_requested = 0.0F;
  float injected_actual = 0.0F;
};

/// A segment as it is read back: features as slots of the feature's quantizer.
struct StoredSegment {
  float duration = 0.0F;  // ticks
  PartsOfTime times;      // ticks
  std::array<std::uint8_t, feature_count> slots{};
  std::uint8_t site = 0;
  float injected_requested = 0.0F;
  float injected_actual = 0.0F;
};

using RankQuantizer = Quantizer<256>;

/// Stores segments with their features quantized. A merge of bins concerns every earlier segment that points at them;
/// instead of being rewritten, merges are logged within the open block, folded into one map of 256 slots when the block
/// closes, and composed backwards once, in settle(). So a segment costs the same whatever went before it.
class SegmentStore {
 public:
  static constexpr std::size_t block_size = 4096;

  /// `limit`: the most segments that are kept; further ones are counted, not stored.
  SegmentStore(std::size_t limit, bool with_injection) : limit_(limit), with_injection_(with_injection) {}

  void push(const SegmentRow& row) {
    if (size_ >= limit_ || !room_for_one()) {
      ++dropped_;
      return;
    }
    Block& block = *blocks_.back();
    const std::size_t at = size_ % block_size;
    block.durations[at] = static_cast<float>(row.duration.count);
    block.times[at] = CompactTimes::of(parts_of(row), static_cast<double>(row.duration.count));
    block.sites[at] = row.site;
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      block.slots[feature][at] = slot_of(feature, row.features[feature], static_cast<std::uint16_t>(at));
    }
    if (with_injection_) {
      block.injected[0][at] = row.injected_requested;
      block.injected[1][at] = row.injected_actual;
    }
    ++size_;
  }

  /// Makes all stored slots speak of the bins as they are now. Call once, after the last push and before get().
  void settle() {
    if (blocks_.empty()) return;
    close_block();
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      SlotMap later = identity();
      for (std::size_t b = blocks_.size(); b-- > 0;) {
        Block& block = *blocks_[b];
        if (!is_identity(later)) {
          for (std::size_t at = 0; at < in_block(b); ++at) block.slots[feature][at] = later[block.slots[feature][at]];
        }
        if (const SlotMap* own = block.maps[feature].get(); own != nullptr) {
          SlotMap composed;
          for (std::size_t slot = 0; slot < composed.size(); ++slot) composed[slot] = later[(*own)[slot]];
          later = composed;
        }
      }
    }
  }

  StoredSegment get(std::size_t index) const {
    const Block& block = *blocks_[index / block_size];
    const std::size_t at = index % block_size;
    StoredSegment segment;
    segment.duration = block.durations[at];
    segment.times = block.times[at].parts_of(static_cast<double>(segment.duration));
    for (std::size_t feature = 0; feature < feature_count; ++feature) segment.slots[feature] = block.slots[feature][at];
    segment.site = block.sites[at];
    if (with_injection_) {
      segment.injected_requested = block.injected[0][at];
      segment.injected_actual = block.injected[1][at];
    }
    return segment;
  }

  std::size_t size() const { return size_; }
  std::size_t dropped() const { return dropped_; }
  bool with_injection() const { return with_injection_; }
  const RankQuantizer& quantizer(std::size_t feature) const { return quantizers_[feature]; }

 private:
  using SlotMap = std::array<std::uint8_t, 256>;
  struct LoggedMerge {
    std::uint16_t at;
    std::uint8_t from;
    std::uint8_t into;
  };
  struct Block {
    std::array<float, block_size> durations;
    std::array<CompactTimes, block_size> times;
    std::array<std::array<std::uint8_t, block_size>, feature_count> slots;
    std::array<std::uint8_t, block_size> sites;
    std::array<std::unique_ptr<SlotMap>, feature_count> maps;  // slots at the block's start -> at its end; null: same
    std::array<std::unique_ptr<float[]>, 2> injected;
  };

  static PartsOfTime parts_of(const SegmentRow& row) {
    PartsOfTime parts;
    for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
      parts.kinds[kind] = static_cast<double>(row.times[kind].count);
    }
    parts.off_cpu = static_cast<double>(row.off_cpu.count);
    parts.beyond_usual = static_cast<double>(row.beyond_usual.count);
    return parts;
  }

  static SlotMap identity() {
    SlotMap map;
    for (std::size_t slot = 0; slot < map.size(); ++slot) map[slot] = static_cast<std::uint8_t>(slot);
    return map;
  }
  static bool is_identity(const SlotMap& map) { return map == identity(); }

  std::size_t in_block(std::size_t block) const {
    return block + 1 < blocks_.size() ? block_size : size_ - block * block_size;
  }

  bool room_for_one() {
    if (size_ % block_size != 0) return true;
    if (!blocks_.empty()) close_block();
    // Left uninitialised: pages that are never written are never taken from the machine.
    std::unique_ptr<Block> block(new (std::nothrow) Block);
    if (block == nullptr) return false;
    if (with_injection_) {
      for (auto& column : block->injected) {
        column.reset(new (std::nothrow) float[block_size]);
        if (column == nullptr) return false;
      }
    }
    blocks_.push_back(std::move(block));
    return true;
  }

  std::uint8_t slot_of(std::size_t feature, double value, std::uint16_t at) {
    Last& last = last_[feature];
    if (last.known && last.value == value) return last.slot;
    const RankQuantizer::Inserted inserted = quantizers_[feature].insert(value);
    if (inserted.merge) {
      merges_[feature].push_back(
          {at, static_cast<std::uint8_t>(inserted.merge->from), static_cast<std::uint8_t>(inserted.merge->into)});
    }
    last = {value, static_cast<std::uint8_t>(inserted.slot), true};
    return last.slot;
  }

  // Backwards through the block: before a merge, `from` meant what `into` means after it.
  void close_block() {
    Block& block = *blocks_.back();
    const std::size_t count = in_block(blocks_.size() - 1);
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      std::vector<LoggedMerge>& merges = merges_[feature];
      if (merges.empty()) continue;
      SlotMap map = identity();
      std::size_t at = count;
      for (auto merge = merges.rbegin(); merge != merges.rend(); ++merge) {
        for (; at > merge->at; --at) block.slots[feature][at - 1] = map[block.slots[feature][at - 1]];
        map[merge->from] = map[merge->into];
      }
      for (; at > 0; --at) block.slots[feature][at - 1] = map[block.slots[feature][at - 1]];
      block.maps[feature] = std::make_unique<SlotMap>(map);
      merges.clear();
    }
  }

  struct Last {
    double value = 0.0;
    std::uint8_t slot = 0;
    bool known = false;
  };

  std::size_t limit_;
  bool with_injection_;
  std::size_t size_ = 0;
  std::size_t dropped_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::array<RankQuantizer, feature_count> quantizers_;
  std::array<Last, feature_count> last_{};
  std::array<std::vector<LoggedMerge>, feature_count> merges_;
};

}  // namespace halcyon
