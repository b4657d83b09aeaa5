// A time in 16 bits, for the parts of a segment's duration.
#pragma once

#include <bit>
#include <cstdint>

namespace halcyon {

/// Ticks as 5 bits of exponent and 11 of mantissa: exact below 4096, relative error below 2^-12 up to 2^42 (half an
/// hour at 2.4 GHz), the largest value beyond.
class CompactTime {
 public:
  CompactTime() = default;
  static CompactTime of(std::uint64_t ticks) {
    CompactTime time;
    const int width = static_cast<int>(std::bit_width(ticks));
    if (width <= mantissa_bits) {
      time.code_ = static_cast<std::uint16_t>(ticks);
      return time;
    }
    int shift = width - mantissa_bits;
    std::uint64_t mantissa = (ticks + (std::uint64_t{1} << (shift - 1))) >> shift;
    if (std::bit_width(mantissa) > static_cast<unsigned>(mantissa_bits)) {
      mantissa >>= 1;
      ++shift;
    }
    // The leading one is implied, as the exponent says that it is there.
    time.code_ = shift >= max_shift ? 0xffff : static_cast<std::uint16_t>((shift << (mantissa_bits - 1)) + mantissa);
    return time;
  }

  std::uint64_t ticks() const {
    if (code_ < (1u << mantissa_bits)) return code_;
    const unsigned shift = (code_ >> (mantissa_bits - 1)) - 1u;
    const std::uint64_t mantissa = (code_ & ((1u << (mantissa_bits - 1)) - 1u)) | (1u << (mantissa_bits - 1));
    return mantissa << shift;
  }

 private:
  static constexpr int mantissa_bits = 12;
  static constexpr int max_shift = 31;
  std::uint16_t code_;  // no value of its own: blocks of them must not be written before they are used
};

}  // namespace halcyon
