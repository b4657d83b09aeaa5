// The quantizer: holds the values of one feature on one rank in at most `Capacity` bins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace halcyon {

/// (larger - smaller) / smaller, the paper's relative distance between two magnitudes. Zero is infinitely far from
/// everything else, so that "none" and "some" never share a bin.
inline double relative_distance(double smaller, double larger) {
  if (smaller == larger) return 0.0;
  return smaller > 0.0 ? (larger - smaller) / smaller : std::numeric_limits<double>::infinity();
}

/// Bins for a stream of non-negative values (the paper, section 2, "Profiling Methodology"). A new value opens a bin.
/// When all bins are taken, the two nearest by relative distance merge into their weighted mean. A bin is named by a
/// slot, which stays valid until a merge frees it: code that stores slots only has to follow the reported merges. Cost
/// of an insertion: O(log Capacity) for a known value, O(Capacity) for a new one, regardless of earlier ones.
template <std::size_t Capacity>
class Quantizer {
  static_assert(Capacity >= 2 && Capacity <= 65536);

 public:
  using Slot = std::uint16_t;

  /// Bins `from` and `into` became one, named `into`; then `from` was free for a new value.
  struct Merge {
    Slot from;
    Slot into;
  };

  struct Inserted {
    Slot slot;
    std::size_t rank;            // of the bin, until the next insertion
    std::optional<Merge> merge;  // happened before the value took its slot
  };

  Inserted insert(double value, double weight = 1.0) {
    const std::size_t at = position(value);
    if (at < size_ && value_[at] == value) {
      weight_[at] += weight;
      return {slot_[at], at, std::nullopt};
    }
    if (size_ < Capacity) {
      const Slot slot = static_cast<Slot>(size_);
      open(at, value, weight, slot);
      return {slot, at, std::nullopt};
    }
    return insert_into_full(at, value, weight);
  }

  /// The value of the last insert(), whose bin is at `rank`, has come again `weight` times.
  void repeat(std::size_t rank, double value, double weight) { absorb(rank, value, weight); }

  /// Restores a bin of a stored quantizer, above all others. False if there is no room for it, or the slot is too
  /// large.
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
  // A binary search without branches that depend on the value, which a processor could not predict.
  std::size_t position(double value) const {
    const double* first = value_.data();
    for (std::size_t left = size_; left > 0;) {
      const std::size_t half = left / 2;
      first += first[half] < value ? left - half : 0;
      left = half;
    }
    return static_cast<std::size_t>(first - value_.data());
  }

  // The first of the smallest gaps between bins. Eight running minima let the compiler vectorize.
  std::size_t closest_bins() const {
    constexpr std::size_t lanes = 8;
    std::array<float, lanes> least;
    least.fill(std::numeric_limits<float>::max());
    const std::size_t gaps = size_ - 1;
    const std::size_t whole = gaps / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        least[lane] = gap_[i + lane] < least[lane] ? gap_[i + lane] : least[lane];
      }
    }
    std::size_t closest = whole;  // or one of the last few
    for (std::size_t i = whole; i < gaps; ++i) closest = gap_[i] < gap_[closest] ? i : closest;
    const float of_rest = whole < gaps ? gap_[closest] : std::numeric_limits<float>::max();
    const float smallest = std::min(of_rest, *std::min_element(least.begin(), least.end()));
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (least[lane] > smallest) continue;
      std::size_t i = lane;
      while (i < closest && gap_[i] > smallest) i += lanes;
      closest = std::min(closest, i);
    }
    return closest;
  }

  void open(std::size_t at, double value, double weight, Slot slot) {
    move(at, size_, at + 1);
    set(at, value, weight, slot);
    ++size_;
    refresh_gaps(at);
  }

  // Two old bins merge to make room, unless the new value is nearer to a bin than any two bins are to each other. So it
  // never lies between the two that merge.
  Inserted insert_into_full(std::size_t at, double value, double weight) {
    const std::size_t closest = closest_bins();
    const double below = at > 0 ? relative_distance(value_[at - 1], value) : infinity;
    const double above = at < size_ ? relative_distance(value, value_[at]) : infinity;
    if (at == closest + 1 || std::min(below, above) <= static_cast<double>(gap_[closest])) {
      const std::size_t host = below <= above && at > 0 ? at - 1 : at;
      absorb(host, value, weight);
      return {slot_[host], host, std::nullopt};
    }
    const std::size_t keep = weight_[closest] >= weight_[closest + 1] ? closest : closest + 1;
    const std::size_t drop = keep == closest ? closest + 1 : closest;
    const Merge merge{slot_[drop], slot_[keep]};
    const double both = weight_[closest] + weight_[closest + 1];
    const double mean = value_[closest] + (value_[closest + 1] - value_[closest]) * (weight_[closest + 1] / both);
    // Only the bins between the closing and the opening gap move.
    const bool upwards = at > closest;
    const std::size_t merged = upwards ? closest : closest + 1;
    const std::size_t opened = upwards ? at - 1 : at;
    if (upwards) {
      move(closest + 2, at, closest + 1);
    } else {
      move(at, closest, at + 1);
    }
    set(merged, mean, both, merge.into);
    set(opened, value, weight, merge.from);
    refresh_gaps(merged);
    refresh_gaps(opened);
    return {merge.from, opened, merge};
  }

  void absorb(std::size_t at, double value, double weight) {
    const double total = weight_[at] + weight;
    value_[at] += (value - value_[at]) * (weight / total);
    weight_[at] = total;
    refresh_gaps(at);
  }

  /// Moves bins [first, last) to `to`.
  void move(std::size_t first, std::size_t last, std::size_t to) {
    const auto within = [=](auto& column) {
      std::memmove(column.data() + to, column.data() + first, (last - first) * sizeof(column[0]));
    };
    within(value_);
    within(weight_);
    within(slot_);
    within(gap_);
  }

  void set(std::size_t at, double value, double weight, Slot slot) {
    value_[at] = value;
    weight_[at] = weight;
    slot_[at] = slot;
  }

  void refresh_gaps(std::size_t at) {
    const auto gap = [this](std::size_t bin) {
      const double distance = relative_distance(value_[bin], value_[bin + 1]);
      return distance < largest_gap ? static_cast<float>(distance) : static_cast<float>(largest_gap);
    };
    if (at > 0) gap_[at - 1] = gap(at - 1);
    if (at + 1 < size_) gap_[at] = gap(at);
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double largest_gap = std::numeric_limits<float>::max();

  std::size_t size_ = 0;
  std::array<double, Capacity + 1> value_{};  // ascending
  std::array<double, Capacity + 1> weight_{};
  std::array<float, Capacity + 1> gap_{};  // relative distance to the next bin
  std::array<Slot, Capacity + 1> slot_{};
};

}  // namespace halcyon
