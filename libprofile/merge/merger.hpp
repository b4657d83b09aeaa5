// Merging the rows that several ranks have of a segment into one row of the profile.
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

/// Makes one row a segment out of the rows of all ranks. How the measures of the ranks become the columns of times,
/// for_each_time_column() says.
class Merger {
 public:
  /// `ranks`: the numbers of the ranks whose rows come, in their order. `count`: how many segments will be added.
  Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, bool with_injection, std::size_t count);

  /// One segment; `stride` bytes lie between the rows of consecutive ranks.
  void add(const std::byte* rows, std::size_t stride, const RowLayout& layout);

  /// Collective: numbers patterns program-wide, or bins what is too diverse for that. Ends the merging. The profile has
  /// the segments that were added, with their features and call sites, and nothing else.
  Profile finish(const Exchange& exchange);

 private:
  /// What merging the ranks leaves of a feature before it is binned again.
  struct MergedFeature {
    std::vector<double> value;           // (segments) median for compute, else sum over ranks
    std::vector<std::uint64_t> pattern;  // (segments) of counts
    Patterns<double> patterns;
  };

  double median_over_ranks();
  void finish_features(const Exchange& exchange);
  void finish_sites(const Exchange& exchange);

  const ProgramNames& names_;
  std::vector<std::uint32_t> ranks_;
  bool with_injection_;
  Profile merged_;
  std::vector<MergedFeature> features_;  // the active ones
  std::vector<std::uint16_t> middle_;    // (ranks) compute bins of the segment at hand
  std::vector<std::uint64_t> site_pattern_;
  std::vector<std::uint16_t> first_site_;
  Patterns<std::uint16_t> site_patterns_;
};

}  // namespace halcyon
