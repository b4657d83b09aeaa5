#include "analyzer/groups/partition.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyzer/groups/clusters.hpp"

namespace halcyon {
namespace {

// Numbers pairs of a number and a bin in order of occurrence. Every segment asks once for each of its features, so this
// is a dense hash table.
class PairNumbers {
 public:
  std::uint32_t number(std::uint32_t part, std::uint16_t bin) {
    const std::uint64_t key = (static_cast<std::uint64_t>(part) << 16) | bin;
    Entry& entry = find(key);
    if (entry.key == key) return entry.number;
    const std::uint32_t number = count_++;
    entry = {key, number};
    if (2 * static_cast<std::size_t>(count_) > entries_.size()) grow();
    return number;
  }
  std::uint32_t count() const { return count_; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t key = none;
    std::uint32_t number = 0;
  };

  // The key's place, or the free one where it belongs.
  Entry& find(std::uint64_t key) {
    // Multiplicative hashing (D. E. Knuth, The Art of Computer Programming 3, section 6.4): the upper bits are mixed.
    std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> shift_);
    while (entries_[at].key != key && entries_[at].key != none) at = (at + 1) & (entries_.size() - 1);
    return entries_[at];
  }
  void grow() {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    --shift_;
    for (const Entry& entry : old) {
      if (entry.key != none) find(entry.key) = entry;
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(64);
  int shift_ = 64 - 6;
  std::uint32_t count_ = 0;
};

/// A part of the partition, and one bin of the column in it.
struct Pair {
  std::uint32_t part;
  double value;
  std::uint16_t bin;
  std::uint32_t number;  // in order of occurrence
};

// Splits the parts by the values of their pairs, which are sorted by part and value. The result is by number of a pair.
Partition split(const std::vector<Pair>& pairs, Compare compare) {
  Partition parts{.of = std::vector<std::uint32_t>(pairs.size())};
  for (std::size_t from = 0, to = 0; from < pairs.size(); from = to) {
    while (to < pairs.size() && pairs[to].part == pairs[from].part) ++to;
    if (compare == Compare::exactly) {
      for (std::size_t i = from; i < to; ++i) parts.of[pairs[i].number] = parts.count++;
      continue;
    }
    std::vector<double> ascending;
    for (std::size_t i = from; i < to; ++i) ascending.push_back(pairs[i].value);
    const std::vector<std::uint32_t> clusters = cluster_ascending(ascending, relative_distance_threshold);
    for (std::size_t i = from; i < to; ++i) parts.of[pairs[i].number] = parts.count + clusters[i - from];
    parts.count += clusters.back() + 1;
  }
  return parts;
}

}  // namespace

Rows rows_of(std::uint64_t segments, const std::vector<const Bins*>& columns) {
  // Numerics: so many segments stay in the cache while one column after the other numbers them.
  constexpr std::size_t block = 4096;
  Rows rows{.of = std::vector<std::uint32_t>(segments, 0)};
  std::vector<PairNumbers> numbers(columns.size());
  for (std::size_t from = 0; from < segments; from += block) {
    const std::size_t to = std::min<std::size_t>(segments, from + block);
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const Bins& bins = *columns[column];
      for (std::size_t segment = from; segment < to; ++segment) {
        rows.of[segment] = numbers[column].number(rows.of[segment], bins[segment]);
      }
    }
    for (std::size_t segment = from; segment < to; ++segment) {
      if (rows.of[segment] == rows.first.size()) {
        rows.first.push_back(static_cast<std::uint32_t>(segment));
        rows.segments.push_back(0);
      }
      ++rows.segments[rows.of[segment]];
    }
  }
  return rows;
}

void refine(Partition& partition, const Rows& rows, const Bins& column, const std::vector<double>& bins,
            Compare compare) {
  if (column.empty()) return;
  PairNumbers numbers;
  std::vector<Pair> pairs;
  std::vector<std::uint32_t> pair_of(partition.of.size());
  for (std::size_t row = 0; row < partition.of.size(); ++row) {
    const std::uint16_t bin = column[rows.first[row]];
    const std::uint32_t number = numbers.number(partition.of[row], bin);
    if (number == pairs.size()) {
      pairs.push_back(
          {.part = partition.of[row], .value = bins.empty() ? 0.0 : bins[bin], .bin = bin, .number = number});
    }
    pair_of[row] = number;
  }

  std::sort(pairs.begin(), pairs.end(), [compare](const Pair& a, const Pair& b) {
    if (a.part != b.part) return a.part < b.part;
    if (compare == Compare::by_relative_distance && a.value != b.value) return a.value < b.value;
    return a.bin < b.bin;
  });
  const Partition parts = split(pairs, compare);
  for (std::size_t row = 0; row < partition.of.size(); ++row) partition.of[row] = parts.of[pair_of[row]];
  partition.count = parts.count;
}

}  // namespace halcyon
