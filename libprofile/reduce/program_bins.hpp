// Program-wide bins: what the ranks' own values become when they are merged.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "libprofile/record/quantizer.hpp"
#include "libprofile/reduce/collectives.hpp"

namespace halcyon {

using ProgramQuantizer = Quantizer<512>;
inline constexpr std::size_t program_bins = 512;

/// Merges the quantizers of all ranks, one per feature, and gives every rank the merged bins in ascending order.
inline std::vector<std::vector<double>> merge_bins(const World& world,
                                                   std::vector<std::unique_ptr<ProgramQuantizer>>& own) {
  const auto pack = [&own] {
    Packer packer;
    for (const auto& quantizer : own) {
      packer.put(static_cast<std::uint64_t>(quantizer->size()));
      for (std::size_t bin = 0; bin < quantizer->size(); ++bin) {
        packer.put(quantizer->value(bin));
        packer.put(quantizer->weight(bin));
      }
    }
    return packer.take();
  };
  const auto merge = [&own](const std::vector<std::byte>& data) {
    Unpacker unpacker(data);
    for (const auto& quantizer : own) {
      for (auto left = unpacker.get<std::uint64_t>(); left > 0; --left) {
        const double value = unpacker.get<double>();
        quantizer->insert(value, unpacker.get<double>());
      }
    }
  };
  world.merge_to_root(pack, merge);
  std::vector<std::vector<double>> bins(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (world.is_root()) {
      for (std::size_t bin = 0; bin < own[i]->size(); ++bin) bins[i].push_back(own[i]->value(bin));
    }
    world.broadcast(bins[i]);
  }
  return bins;
}

/// The bin nearest to `value` by relative distance; `bins` ascending and not empty.
inline std::uint16_t nearest_bin(const std::vector<double>& bins, double value) {
  const auto above = std::lower_bound(bins.begin(), bins.end(), value);
  if (above == bins.end()) return static_cast<std::uint16_t>(bins.size() - 1);
  if (above == bins.begin() || *above == value) return static_cast<std::uint16_t>(above - bins.begin());
  const bool lower = relative_distance(*(above - 1), value) <= relative_distance(value, *above);
  return static_cast<std::uint16_t>(above - bins.begin() - (lower ? 1 : 0));
}

/// Distinct patterns over ranks of a nominal feature: numbered as they are met, and what one of them stands for. Once
/// there are more than the program-wide bins the feature is diverse, and is reduced over ranks instead.
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

/// One more rank's value in the hash of a pattern (the finaliser of SplitMix64 over a running sum).
inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t z = hash * 0x100000001b3u + value + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace halcyon
