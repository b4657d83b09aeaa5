// Stores the times of a segment that are shares of its duration in few bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "libprofile/format/measures.hpp"

namespace halcyon {

/// The 64-bit word of each share. Words are filled in the order of the table, and no share is split between two.
struct ShareLayout {
  std::array<std::size_t, measure_count> word{};
  std::size_t words = 0;
};
constexpr ShareLayout layout_of_shares() {
  ShareLayout layout;
  unsigned filled = 64;
  for (std::size_t i = 0; i < measure_count; ++i) {
    if (measures[i].kept != Kept::share) continue;
    if (filled + measures[i].bits > 64) {
      ++layout.words;
      filled = 0;
    }
    layout.word[i] = layout.words - 1;
    filled += measures[i].bits;
  }
  return layout;
}
inline constexpr ShareLayout share_layout = layout_of_shares();
static_assert(share_layout.words == 1,
              "one more word costs 8 bytes a segment: show it in docs/performance.md, scale.md and recover.md");

/// The measures that are kept as shares, each as the square root of its share of the duration, in its bits. With 8
/// bits a time is wrong by at most 1/255 of the duration. Small times, which a linear share would round to 0, are wrong
/// by much less. All values are in the unit of the duration. Parts on disk hold these words: if you change something
/// here, or the bits of a measure, raise `part_version` (segment_block.hpp).
class PackedShares {
 public:
  PackedShares() = default;
  static PackedShares of(const Measured<double>& segment) {
    const double duration = segment[index_of(Measure::duration)];
    const float per_duration = duration > 0.0 ? static_cast<float>(1.0 / duration) : 0.0F;
    PackedShares packed;
    packed.words_ = {};
#pragma GCC unroll 16  // each measure's bits are then constants
    for (std::size_t i = 0; i < measure_count; ++i) {
      if (measures[i].kept != Kept::share) continue;
      std::uint64_t& word = packed.words_[share_layout.word[i]];
      word = word << measures[i].bits | root_of_share(static_cast<float>(segment[i]) * per_duration, measures[i].bits);
    }
    return packed;
  }

  /// Sets the shares in `segment`, which has its duration.
  void unpack_into(Measured<double>& segment) const {
    const double duration = segment[index_of(Measure::duration)];
    std::array<std::uint64_t, share_layout.words> words = words_;
#pragma GCC unroll 16
    for (std::size_t i = measure_count; i-- > 0;) {
      if (measures[i].kept != Kept::share) continue;
      std::uint64_t& word = words[share_layout.word[i]];
      segment[i] = duration * share_of(word & largest(measures[i].bits), measures[i].bits);
      word >>= measures[i].bits;
    }
  }

 private:
  static constexpr std::uint64_t largest(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }
  // A call that began before another thread ended the last segment may have taken longer than the segment.
  static std::uint64_t root_of_share(float share, unsigned bits) {
    return static_cast<std::uint64_t>(std::sqrt(std::min(share, 1.0F)) * static_cast<float>(largest(bits)) + 0.5F);
  }
  static double share_of(std::uint64_t root, unsigned bits) {
    const double fraction = static_cast<double>(root) / static_cast<double>(largest(bits));
    return fraction * fraction;
  }

  // Not initialized: the pages of a new block must not be written before they are used.
  std::array<std::uint64_t, share_layout.words> words_;
};
static_assert(sizeof(PackedShares) == share_layout.words * sizeof(std::uint64_t));

}  // namespace halcyon
