// Merges the rows of all ranks for one segment into one row of the profile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/profile.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/merge/names.hpp"
#include "libprofile/merge/peers.hpp"
#include "libprofile/merge/program_bins.hpp"
#include "libprofile/merge/row.hpp"

namespace halcyon {

/// The bins of one feature in the ranks' rows of some segments. For a segment it keeps one number per rank, or one per
/// bin if there are more ranks than bins.
class BinsOfRanks {
 public:
  BinsOfRanks(std::size_t segments, std::size_t ranks);
  void add(std::size_t segment, std::size_t rank, std::uint16_t bin);
  /// The two in the middle, in order; the same one twice if the number of ranks is odd. Forgets the segment's bins.
  std::pair<std::uint16_t, std::uint16_t> take_middle(std::size_t segment);
  static std::size_t bytes_of_segment(std::size_t ranks);

 private:
  std::size_t ranks_;
  bool counts_;  // bins, instead of keeping those of the ranks
  std::size_t per_segment_;
  std::vector<std::uint32_t> values_;
};

/// The measures of one segment over ranks.
struct MeasuresOverRanks {
  Measured<double> sum{};
  Measured<float> least;
  Measured<float> largest{};
  RowMeasures of_last{};
  std::size_t last = 0;                                   // its index among the ranks
  float least_slack = std::numeric_limits<float>::max();  // slack_of()
  // Had no rank waited for a CPU; had none been slower than its peers; had none had more work.
  float least_slack_without_wait = least_slack;
  float least_slack_at_pace = least_slack;
  float least_slack_with_equal_work = least_slack;

  MeasuresOverRanks();
  void add(std::size_t rank, const RowMeasures& times, const Avoidable& avoidable);
};

/// Makes one row per segment out of the rows of all ranks. for_each_measure_column() says how the ranks' measures
/// become columns of times.
///
/// Several segments are open at a time. Their rows come in any order of segments, but for each segment in the order of
/// ranks. The memory for an open segment does not grow with the number of ranks.
class Merger {
 public:
  /// `ranks`: the rank of each row, in the order of the rows. `count`: how many segments will be added. `open`: the
  /// largest number of segments that are open at a time.
  Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, const Peers& peers, bool with_injection,
         std::size_t count, std::size_t open = 1);

  /// Adds a row to an open segment, counted from the first open one.
  void add(std::size_t segment, std::size_t rank, const std::byte* row, const RowLayout& layout);
  /// The first open segments have the rows of all ranks.
  void close(std::size_t segments);

  /// Adds one segment. `stride`: bytes from the row of one rank to that of the next.
  void add(const std::byte* rows, std::size_t stride, const RowLayout& layout) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) add(0, rank, rows + rank * stride, layout);
    close(1);
  }

  /// How much memory each open segment takes.
  static std::size_t bytes_of_open_segment(std::size_t ranks);

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

  struct SegmentInMerge {
    MeasuresOverRanks times;
    std::array<double, feature_count> sums{};  // of the active features, except of compute
    std::array<std::uint64_t, feature_count> patterns{};
    double largest_work = 0.0;
    double last_rank_work = 0.0;
    std::uint64_t sites = 0;
    std::uint16_t first_site = 0;
  };

  template <class Visit>
  void for_each_recorded_measure(Visit visit);
  double median_over_ranks(std::size_t segment);
  void finish_features(const Exchange& exchange);
  void finish_sites(const Exchange& exchange);

  const ProgramNames& names_;
  std::vector<std::uint32_t> ranks_;
  std::size_t compute_at_;  // among the active features; behind them if all work is the same
  AvoidableTimes avoidable_;
  bool with_injection_;
  Profile merged_;
  std::vector<MergedFeature> features_;  // the active features
  std::vector<SegmentInMerge> open_;
  BinsOfRanks compute_;                 // of the open segments
  std::vector<double> largest_work_;    // (segments) both empty if the work is the same everywhere
  std::vector<double> last_rank_work_;  // (segments)
  std::vector<std::uint64_t> site_pattern_;
  std::vector<std::uint16_t> first_site_;
  Patterns<std::uint16_t> site_patterns_;
};

}  // namespace halcyon
