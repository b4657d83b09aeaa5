// Merges the rows of all ranks for one segment into one row of the profile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/merge/names.hpp"
#include "libprofile/merge/program_bins.hpp"
#include "libprofile/merge/row.hpp"

namespace halcyon {

/// Makes one row per segment out of the rows of all ranks. for_each_time_column() says how the ranks' measures become
/// columns of times.
class Merger {
 public:
  /// `ranks`: the rank of each row, in the order of the rows. `count`: how many segments will be added.
  Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, bool with_injection, std::size_t count);

  /// Adds one segment. `stride`: bytes from the row of one rank to that of the next.
  void add(const std::byte* rows, std::size_t stride, const RowLayout& layout);

  /// Collective. Numbers the patterns program-wide, bins features that have too many patterns, and ends the merge. The
  /// profile has the added segments with their features and call sites, and nothing else.
  Profile finish(const Exchange& exchange);

 private:
  /// A feature after merging over ranks, before it is binned again.
  struct MergedFeature {
    std::vector<double> value;           // (segments) median for compute, else sum over ranks
    std::vector<std::uint64_t> pattern;  // (segments) for counts: hash of the ranks' bins
    Patterns<double> patterns;
  };

  double median_over_ranks();
  void finish_features(const Exchange& exchange);
  void finish_sites(const Exchange& exchange);

  const ProgramNames& names_;
  std::vector<std::uint32_t> ranks_;
  bool with_injection_;
  Profile merged_;
  std::vector<MergedFeature> features_;  // the active features
  std::vector<std::uint16_t> middle_;    // (ranks) compute bins of the current segment
  std::vector<std::uint64_t> site_pattern_;
  std::vector<std::uint16_t> first_site_;
  Patterns<std::uint16_t> site_patterns_;
};

}  // namespace halcyon
