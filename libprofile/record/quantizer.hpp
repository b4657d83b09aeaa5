// The quantizer: the values of one feature on one rank, in at most `Capacity` bins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace halcyon {

/// (larger - smaller) / smaller, the seed's relative distance between two magnitudes. Zero is infinitely far from
/// everything else, so that "none" and "some" never share a bin.
inline double relative_distance(double smaller, double larger) {
  if (smaller == larger) return 0.0;
  return smaller > 0.0 ? (larger - smaller) / smaller : std::numeric_limits<double>::infinity();
}

/// Bins for a stream of non-negative values (seed 002, section 2, "Profiling Methodology"). A new value opens a bin;
/// when all bins are taken the two that are nearest by relative distance merge into their weighted mean. A bin is named
/// by a slot that stays valid until a merge gives it away, so that who stored slots only has to follow the reported
/// merges. Cost of an insertion: O(log Capacity) for a known value, O(Capacity) for a new one, whatever went before.
template <std::size_t Capacity>
class Quantizer {
  static_assert(Capacity >= 2 && Capacity <= 65536);

 public:
  using Slot = std::uint16_t;

  /// Bins `from` and `into` became one, named `into`; `from` was free for a new value afterwards.
  struct Merge {
    Slot from;
    Slot into;
  };

  struct Inserted {
    Slot slot;
    std::optional<Merge> merge;  // happened before the value took its slot
  };

  Inserted insert(double value, double weight = 1.0) {
    const std::size_t at = position(value);
    if (at < size_ && value_[at] == value) {
      weight_[at] += weight;
      return {slot_[at], std::nullopt};
    }
    if (size_ < Capacity) {
      const Slot slot = static_cast<Slot>(size_);
      open(at, value, weight, slot);
      return {slot, std::nullopt};
    }
    return insert_into_full(at, value, weight);
  }

  /// One more bin of a quantizer that was stored, above all others. False if it cannot have it.
  bool append(double value, double weight, Slot slot) {
    if (size_ == Capacity || slot >= Capacity) return false;
    open(size_, value, weight, slot);
    return true;
  }

  std::size_t size() const { return size_; }
  /// Bins in ascending order of value, 0 <= rank < size().
  double value(std::size_t rank) const { return value_[rank]; }
  double weight(std::size_t rank) const { return weight_[rank]; }
  Slot slot(std::size_t rank) const { return slot_[rank]; }

 private:
  std::size_t position(double value) const {
    return static_cast<std::size_t>(std::lower_bound(value_.begin(), value_.begin() + size_, value) - value_.begin());
  }

  void open(std::size_t at, double value, double weight, Slot slot) {
    std::copy_backward(value_.begin() + at, value_.begin() + size_, value_.begin() + size_ + 1);
    std::copy_backward(weight_.begin() + at, weight_.begin() + size_, weight_.begin() + size_ + 1);
    std::copy_backward(slot_.begin() + at, slot_.begin() + size_, slot_.begin() + size_ + 1);
    std::copy_backward(gap_.begin() + at, gap_.begin() + size_, gap_.begin() + size_ + 1);
    value_[at] = value;
    weight_[at] = weight;
    slot_[at] = slot;
    ++size_;
    refresh_gaps(at);
  }

  // Two old bins merge to make room, unless the new value is itself nearer to a bin than any two bins to each other.
  Inserted insert_into_full(std::size_t at, double value, double weight) {
    const std::size_t closest =
        static_cast<std::size_t>(std::min_element(gap_.begin(), gap_.begin() + size_ - 1) - gap_.begin());
    const double below = at > 0 ? relative_distance(value_[at - 1], value) : infinity;
    const double above = at < size_ ? relative_distance(value, value_[at]) : infinity;
    if (std::min(below, above) <= gap_[closest]) {
      const std::size_t host = below <= above && at > 0 ? at - 1 : at;
      absorb(host, value, weight);
      return {slot_[host], std::nullopt};
    }
    const std::size_t keep = weight_[closest] >= weight_[closest + 1] ? closest : closest + 1;
    const std::size_t drop = keep == closest ? closest + 1 : closest;
    const Merge merge{slot_[drop], slot_[keep]};
    absorb_bin(closest, merge.into);
    open(position(value), value, weight, merge.from);
    return {merge.from, merge};
  }

  void absorb(std::size_t at, double value, double weight) {
    const double total = weight_[at] + weight;
    value_[at] += (value - value_[at]) * (weight / total);
    weight_[at] = total;
    refresh_gaps(at);
  }

  // Bin at + 1 goes into bin at, which is called `slot` from now on.
  void absorb_bin(std::size_t at, Slot slot) {
    const double value = value_[at + 1];
    const double weight = weight_[at + 1];
    std::copy(value_.begin() + at + 2, value_.begin() + size_, value_.begin() + at + 1);
    std::copy(weight_.begin() + at + 2, weight_.begin() + size_, weight_.begin() + at + 1);
    std::copy(slot_.begin() + at + 2, slot_.begin() + size_, slot_.begin() + at + 1);
    std::copy(gap_.begin() + at + 2, gap_.begin() + size_, gap_.begin() + at + 1);
    --size_;
    slot_[at] = slot;
    absorb(at, value, weight);
  }

  void refresh_gaps(std::size_t at) {
    if (at > 0) gap_[at - 1] = relative_distance(value_[at - 1], value_[at]);
    gap_[at] = at + 1 < size_ ? relative_distance(value_[at], value_[at + 1]) : infinity;
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();

  std::size_t size_ = 0;
  std::array<double, Capacity + 1> value_{};  // ascending
  std::array<double, Capacity + 1> weight_{};
  std::array<double, Capacity + 1> gap_{};  // relative distance to the next bin
  std::array<Slot, Capacity + 1> slot_{};
};

}  // namespace halcyon
