// The parts of a segment's duration in one word.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "libprofile/format/features.hpp"

namespace halcyon {

/// Parts of a segment's duration, in one unit.
struct PartsOfTime {
  std::array<double, time_kind_count> kinds{};
  // These overlap with the kinds.
  double off_cpu = 0.0;
  double beyond_usual = 0.0;  // of calls
};

/// Each part as the square root of its share of the duration, in 10 bits (those that overlap: 12). So a part is wrong
/// by at most 1/1023 of the duration (1/4095), and small ones, which a share itself would round to nothing, by much
/// less.
class CompactTimes {
 public:
  CompactTimes() = default;
  static CompactTimes of(const PartsOfTime& parts, double duration) {
    const float per_duration = duration > 0.0 ? static_cast<float>(1.0 / duration) : 0.0F;
    CompactTimes times;
    times.word_ = root_of_share(static_cast<float>(parts.off_cpu) * per_duration, overlapping_bits);
    times.word_ = times.word_ << overlapping_bits |
                  root_of_share(static_cast<float>(parts.beyond_usual) * per_duration, overlapping_bits);
    for (const double part : parts.kinds) {
      times.word_ = times.word_ << kind_bits | root_of_share(static_cast<float>(part) * per_duration, kind_bits);
    }
    return times;
  }

  PartsOfTime parts_of(double duration) const {
    PartsOfTime parts;
    std::uint64_t word = word_;
    for (std::size_t kind = time_kind_count; kind-- > 0; word >>= kind_bits) {
      parts.kinds[kind] = duration * share_of(word & largest(kind_bits), kind_bits);
    }
    parts.beyond_usual = duration * share_of(word & largest(overlapping_bits), overlapping_bits);
    parts.off_cpu = duration * share_of(word >> overlapping_bits, overlapping_bits);
    return parts;
  }

 private:
  static constexpr unsigned kind_bits = 10;
  static constexpr unsigned overlapping_bits = 12;
  static_assert(kind_bits * time_kind_count + 2 * overlapping_bits == 64);

  static constexpr std::uint64_t largest(unsigned bits) { return (std::uint64_t{1} << bits) - 1; }
  // A call that began before another thread ended the last segment may have taken longer than the segment.
  static std::uint64_t root_of_share(float share, unsigned bits) {
    return static_cast<std::uint64_t>(std::sqrt(std::min(share, 1.0F)) * static_cast<float>(largest(bits)) + 0.5F);
  }
  static double share_of(std::uint64_t root, unsigned bits) {
    const double fraction = static_cast<double>(root) / static_cast<double>(largest(bits));
    return fraction * fraction;
  }

  std::uint64_t word_;  // no value of its own: blocks of them must not be written before they are used
};
static_assert(sizeof(CompactTimes) == 8);

}  // namespace halcyon
