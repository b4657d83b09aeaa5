// Program-wide bins, merged from the values of the ranks.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "libprofile/format/packer.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/record/store/quantizer.hpp"

namespace halcyon {

using ProgramQuantizer = Quantizer<512>;
inline constexpr std::size_t program_bins = 512;

/// Merges the quantizers of all ranks, one per feature, and gives every rank the merged bins in ascending order.
std::vector<std::vector<double>> merge_bins(const Exchange& exchange,
                                            std::vector<std::unique_ptr<ProgramQuantizer>>& own);

/// The bin nearest to `value` by relative distance; `bins` ascending and not empty.
inline std::uint16_t nearest_bin(const std::vector<double>& bins, double value) {
  const auto above = std::lower_bound(bins.begin(), bins.end(), value);
  if (above == bins.end()) return static_cast<std::uint16_t>(bins.size() - 1);
  if (above == bins.begin() || *above == value) return static_cast<std::uint16_t>(above - bins.begin());
  const bool lower = relative_distance(*(above - 1), value) <= relative_distance(value, *above);
  return static_cast<std::uint16_t>(above - bins.begin() - (lower ? 1 : 0));
}

/// The distinct patterns over ranks of a nominal feature, numbered in the order they appear, and what each of them
/// means. A feature with more patterns than program-wide bins is diverse: it is reduced over ranks instead.
template <class Meaning>
class Patterns {
 public:
  bool diverse() const { return diverse_; }
  void give_up() { diverse_ = true; }

  std::uint16_t number_of(std::uint64_t hash, const Meaning& meaning) {
    if (diverse_) return 0;
    const auto [entry, is_new] = numbers_.try_emplace(hash, static_cast<std::uint16_t>(hashes_.size()));
    if (is_new) {
      if (hashes_.size() == program_bins) {
        diverse_ = true;
        return 0;
      }
      hashes_.push_back(hash);
      meanings_.push_back(meaning);
    }
    return entry->second;
  }
  const std::vector<std::uint64_t>& hashes() const { return hashes_; }
  const std::vector<Meaning>& meanings() const { return meanings_; }
  std::uint16_t known(std::uint64_t hash) const {
    const auto found = numbers_.find(hash);
    return found != numbers_.end() ? found->second : std::uint16_t{0};
  }

 private:
  bool diverse_ = false;
  std::unordered_map<std::uint64_t, std::uint16_t> numbers_;
  std::vector<std::uint64_t> hashes_;
  std::vector<Meaning> meanings_;
};

/// Numbers the patterns of all ranks program-wide.
template <class Meaning>
void merge_patterns(const Exchange& exchange, Patterns<Meaning>& patterns) {
  const auto pack = [&patterns] {
    Packer packer;
    packer.put(static_cast<std::uint64_t>(patterns.diverse() ? program_bins + 1 : patterns.hashes().size()));
    if (!patterns.diverse()) {
      packer.put(patterns.hashes().data(), patterns.hashes().size());
      packer.put(patterns.meanings().data(), patterns.meanings().size());
    }
    return packer.take();
  };
  const auto merge = [&patterns](const std::vector<std::byte>& data) {
    Unpacker unpacker(data);
    const auto count = unpacker.get<std::uint64_t>();
    if (count > program_bins) {
      patterns.give_up();
      return;
    }
    std::vector<std::uint64_t> hashes(count);
    std::vector<Meaning> meanings(count);
    unpacker.get(hashes.data(), count);
    unpacker.get(meanings.data(), count);
    for (std::size_t i = 0; i < count; ++i) patterns.number_of(hashes[i], meanings[i]);
  };
  const std::vector<std::byte> all = merge_over_ranks(exchange, pack, merge);
  if (exchange.is_root()) return;
  patterns = {};
  merge(all);
}

/// Adds one more rank's value to the hash of a pattern (the finaliser of SplitMix64 over a running sum).
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t z = hash * 0x100000001b3u + value + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace halcyon
