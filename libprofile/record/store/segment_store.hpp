// The segments of one rank in bounded memory: closed blocks go to the part file on request, or when memory is full.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/measures.hpp"
#include "libprofile/record/block/segment_block.hpp"
#include "libprofile/record/parts/part_file.hpp"
#include "libprofile/record/store/quantizer.hpp"

namespace halcyon {

/// The recorder's values of a segment when it ends.
struct SegmentRow {
  Measured<double> measured{};  // ticks; those of intM in ns, and stored only if it is loaded
  std::array<double, feature_count> features{};
  std::uint8_t site = 0;

  double& operator[](Measure measure) { return measured[index_of(measure)]; }
};

using RankQuantizer = Quantizer<256>;

/// A segment as it is read back. Valid until the next one is.
struct StoredSegment {
  Measured<double> measured{};  // as in SegmentRow
  std::uint8_t site = 0;

  double operator[](Measure measure) const { return measured[index_of(measure)]; }
  /// The slot of a feature's quantizer. Few readers need those of all features.
  std::uint8_t slot(std::size_t feature) const {
    const std::uint8_t slot = block->slots[feature][at];
    return later != nullptr ? (*later)[feature][slot] : slot;
  }

  const SegmentBlock* block = nullptr;
  const std::array<SlotMap, feature_count>* later = nullptr;  // what became of the block's slots
  std::size_t at = 0;
};

/// Stores segments with their features quantized. A merge of bins affects every earlier segment in these bins. These
/// segments are not rewritten: merges are logged within the open block, combined into one map of 256 slots when the
/// block closes, and composed backwards once, in settle(). So the cost of a segment does not depend on earlier ones,
/// and a spilled block is never touched again.
class SegmentStore {
 public:
  static constexpr std::size_t block_size = SegmentBlock::capacity;

  /// `limit`: the most segments in memory. Further ones go to `part`. If there is no part, or it cannot be written, or
  /// it must not hold more than memory does, then they and all later ones are only counted, not stored.
  SegmentStore(std::size_t limit, bool with_injection, PartFile* part = nullptr, bool has_bounded_part = false)
      : limit_(limit), with_injection_(with_injection), part_(part), has_bounded_part_(has_bounded_part) {}

  /// Restores the content of a part file: `closed` blocks in the file, which have been checked, then `open_size`
  /// segments of `open`, and its maps.
  SegmentStore(PartFile& part, bool with_injection, std::size_t closed, OwnedBlock open, std::size_t open_size,
               const std::array<RankQuantizer, feature_count>& quantizers)
      : limit_(0),
        with_injection_(with_injection),
        part_(&part),
        size_(closed * block_size + open_size),
        is_restored_(true),
        in_file_(closed),
        released_(closed),
        quantizers_(quantizers) {
    blocks_.resize(closed);
    blocks_.push_back(std::move(open));
  }

  void push(const SegmentRow& row) {
    // No segment is stored after a missing one: its index would not match the other ranks' any more.
    if (dropped_ > 0 || !room_for_one()) {
      ++dropped_;
      return;
    }
    SegmentBlock& block = *blocks_.back();
    const std::size_t at = size_ % block_size;
    store_measures(block, at, row.measured);
    block.sites[at] = row.site;
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      const std::uint8_t slot = slot_of(feature, row.features[feature], static_cast<std::uint16_t>(at));
      if (slot != 0) block.slots[feature][at] = slot;
    }
    ++size_;
  }

  /// Writes the closed blocks to the part file, and from now on each block when it closes. False if a write fails; the
  /// blocks then stay in memory. Async-signal-safe.
  bool spill() {
    count_repeated();
    writes_through_ = true;
    return write_closed(closed_blocks());
  }
  /// Whether no block is in the part file alone: then all can be written to another one.
  bool is_in_memory() const { return released_ == 0; }
  void forget_file() { in_file_ = 0; }
  /// Number of blocks in the part file, counted from the first.
  std::size_t in_file() const { return in_file_; }

  /// How slots have changed since the end of the last block in the part file; false if they have not.
  /// Async-signal-safe.
  bool changed_since_file(std::size_t feature, SlotMap& map) const {
    map = identity();
    bool any = false;
    const auto goes_on = [&](const SlotMap& further) {
      for (std::uint8_t& slot : map) slot = further[slot];
      any = true;
    };
    for (std::size_t b = in_file_; b < blocks_.size(); ++b) {
      if (blocks_[b]->is_mapped(feature)) goes_on(blocks_[b]->maps[feature]);
    }
    if (!merges_[feature].empty()) goes_on(follow_merges(feature, nullptr, 0, nullptr));
    return any;
  }

  /// The segments after the last closed block; copy_open_slots() gives their slots as of now. Async-signal-safe.
  std::size_t open_size() const { return is_closed_ || blocks_.empty() ? 0 : size_ - closed_blocks() * block_size; }
  const SegmentBlock& open_block() const { return *blocks_.back(); }
  void copy_open_slots(std::size_t feature, std::uint8_t* slots) const {
    follow_merges(feature, open_block().slots[feature].data(), open_size(), slots);
  }
  std::size_t closed_blocks() const { return blocks_.size() - (is_closed_ || blocks_.empty() ? 0 : 1); }

  /// Makes all stored slots refer to the bins as they are now. Call once, after the last push and before get(). Throws
  /// if memory runs out, or a spilled block cannot be read. The segments can still be spilled afterwards.
  void settle() {
    count_repeated();
    later_.resize(blocks_.size());
    if (blocks_.empty()) return;
    if (!is_closed_) fold_merges();  // the block stays open: it may still be spilled, in a tail
    std::array<SlotMap, feature_count> later;
    later.fill(identity());
    bool any = false;
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      if (any) later_[b] = std::make_unique<std::array<SlotMap, feature_count>>(later);
      const SegmentBlock& block = block_with_maps(b);
      for (std::size_t feature = 0; feature < feature_count; ++feature) {
        if (!block.is_mapped(feature)) continue;
        any = true;
        SlotMap composed;
        for (std::size_t slot = 0; slot < composed.size(); ++slot) {
          composed[slot] = later[feature][block.maps[feature][slot]];
        }
        later[feature] = composed;
      }
    }
  }

  StoredSegment get(std::size_t index) const {
    const std::size_t b = index / block_size;
    const SegmentBlock& block = block_at(b);
    const std::size_t at = index % block_size;
    return {.measured = stored_measures(block, at),
            .site = block.sites[at],
            .block = &block,
            .later = later_[b].get(),
            .at = at};
  }

  std::size_t size() const { return size_; }
  std::size_t dropped() const { return dropped_; }
  bool with_injection() const { return with_injection_; }
  const RankQuantizer& quantizer(std::size_t feature) const { return quantizers_[feature]; }

 private:
  struct LoggedMerge {
    std::uint16_t at;
    std::uint8_t from;
    std::uint8_t into;
  };

  void store_measures(SegmentBlock& block, std::size_t at, const Measured<double>& measured) const {
    std::size_t whole = 0;
    std::size_t with_intm = 0;
#pragma GCC unroll 16  // how each measure is kept is then known to the compiler
    for (std::size_t i = 0; i < measure_count; ++i) {
      if (measures[i].kept == Kept::whole) {
        float& kept = block.whole[whole++][at];
        if (measured[i] != 0.0) kept = static_cast<float>(measured[i]);  // a column of zeros takes no memory
      }
      if (measures[i].kept == Kept::with_intm && with_injection_) {
        block.with_intm[with_intm++][at] = static_cast<float>(measured[i]);
      }
    }
    block.shares[at] = PackedShares::of(measured);
  }
  Measured<double> stored_measures(const SegmentBlock& block, std::size_t at) const {
    Measured<double> measured{};
    std::size_t whole = 0;
    std::size_t with_intm = 0;
#pragma GCC unroll 16  // how each measure is kept is then known to the compiler
    for (std::size_t i = 0; i < measure_count; ++i) {
      if (measures[i].kept == Kept::whole) measured[i] = static_cast<double>(block.whole[whole++][at]);
      if (measures[i].kept == Kept::with_intm && with_injection_) {
        measured[i] = static_cast<double>(block.with_intm[with_intm++][at]);
      }
    }
    block.shares[at].unpack_into(measured);
    return measured;
  }

  bool room_for_one() {
    const bool in_open_block = size_ % block_size != 0;
    if (!in_open_block && !is_closed_ && !blocks_.empty()) {
      fold_merges();
      keep_bins();
      is_closed_ = true;
      if (writes_through_) write_closed(closed_blocks());
    }
    while (size_ - released_ * block_size >= limit_) {
      if (!release_oldest()) return false;
    }
    if (in_open_block) return true;
    OwnedBlock block = empty_block();
    if (block == nullptr) return false;
    blocks_.push_back(std::move(block));
    is_closed_ = false;
    return true;
  }

  bool release_oldest() {
    if (has_bounded_part_ || released_ == closed_blocks() || !write_closed(released_ + 1)) return false;
    blocks_[released_++].reset();
    return true;
  }

  bool write_closed(std::size_t end) {
    for (; in_file_ < end; ++in_file_) {
      if (part_ == nullptr || !part_->write_block(in_file_, *blocks_[in_file_])) return false;
    }
    return true;
  }

  const SegmentBlock& block_at(std::size_t block) const {
    if (blocks_[block] != nullptr) return *blocks_[block];
    if (cached_block_ == block) return *cached_;
    cached_block_ = none;
    part_->read_back(block, cached_);
    cached_block_ = block;
    return *cached_;
  }

  // Of a restored part, whose blocks have been checked, only the maps are read.
  const SegmentBlock& block_with_maps(std::size_t block) const {
    if (!is_restored_ || blocks_[block] != nullptr) return block_at(block);
    cached_block_ = none;
    part_->read_maps(block, cached_);
    return *cached_;
  }

  std::uint8_t slot_of(std::size_t feature, double value, std::uint16_t at) {
    Last& last = last_[feature];
    if (last.known && last.value == value) return last.slot;
    count_repeated(feature);
    const RankQuantizer::Inserted inserted = quantizers_[feature].insert(value);
    if (inserted.merge) {
      merges_[feature].push_back(
          {at, static_cast<std::uint8_t>(inserted.merge->from), static_cast<std::uint8_t>(inserted.merge->into)});
    }
    last = {.value = value,
            .counted = static_cast<std::uint32_t>(size_ + 1),
            .rank = static_cast<std::uint8_t>(inserted.rank),
            .slot = static_cast<std::uint8_t>(inserted.slot),
            .known = true};
    return last.slot;
  }

  // Most values repeat that of the segment before. Repetitions are added to the bin's weight only when another value
  // comes, and cost nothing until then.
  void count_repeated(std::size_t feature) {
    Last& last = last_[feature];
    const auto stored = static_cast<std::uint32_t>(size_);
    if (!last.known || last.counted == stored) return;
    quantizers_[feature].repeat(last.rank, last.value, static_cast<double>(stored - last.counted));
    last.counted = stored;
  }
  void count_repeated() {
    for (std::size_t feature = 0; feature < feature_count; ++feature) count_repeated(feature);
  }

  // Goes backwards through the block: `from` before a merge means the same as `into` after it. `slots` may be equal to
  // `to`.
  SlotMap follow_merges(std::size_t feature, const std::uint8_t* slots, std::size_t count, std::uint8_t* to) const {
    SlotMap map = identity();
    std::size_t at = count;
    const std::vector<LoggedMerge>& merges = merges_[feature];
    for (auto merge = merges.rbegin(); merge != merges.rend(); ++merge) {
      for (; at > merge->at; --at) to[at - 1] = map[slots[at - 1]];
      map[merge->from] = map[merge->into];
    }
    for (; at > 0; --at) to[at - 1] = map[slots[at - 1]];
    return map;
  }

  void fold_merges() {
    SegmentBlock& block = *blocks_.back();
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      if (merges_[feature].empty()) continue;
      std::uint8_t* slots = block.slots[feature].data();
      block.maps[feature] = follow_merges(feature, slots, open_size(), slots);
      block.mapped |= std::uint64_t{1} << feature;
      merges_[feature].clear();
    }
  }

  // Slots are taken in order, and one that a merge frees is taken again at once: the first ones are in use.
  void keep_bins() {
    SegmentBlock& block = *blocks_.back();
    float* values = block.bin_values.data();
    for (std::size_t feature = 0; feature < feature_count; ++feature) {
      const RankQuantizer& bins = quantizers_[feature];
      block.bin_counts[feature] = static_cast<std::uint16_t>(bins.size());
      for (std::size_t bin = 0; bin < bins.size(); ++bin) values[bins.slot(bin)] = static_cast<float>(bins.value(bin));
      values += bins.size();
    }
  }

  struct Last {
    double value = 0.0;
    std::uint32_t counted = 0;  // segments up to the last one counted in a bin; may overflow: only differences are used
    std::uint8_t rank = 0;      // of its bin
    std::uint8_t slot = 0;
    bool known = false;
  };

  std::size_t limit_;
  bool with_injection_;
  PartFile* part_;
  bool has_bounded_part_ = false;
  std::size_t size_ = 0;
  std::size_t dropped_ = 0;
  bool writes_through_ = false;
  bool is_closed_ = false;    // the last block is closed
  bool is_restored_ = false;  // from a part that another process wrote
  std::size_t in_file_ = 0;   // blocks
  std::size_t released_ = 0;  // blocks in the file only
  std::vector<OwnedBlock> blocks_;
  std::array<RankQuantizer, feature_count> quantizers_;
  std::array<Last, feature_count> last_{};
  std::array<std::vector<LoggedMerge>, feature_count> merges_;
  // Per block: map from the slots at its end to the slots now; null if they are the same.
  std::vector<std::unique_ptr<std::array<SlotMap, feature_count>>> later_;
  mutable OwnedBlock cached_;
  static constexpr std::size_t none = ~std::size_t{0};
  mutable std::size_t cached_block_ = none;
};

}  // namespace halcyon
