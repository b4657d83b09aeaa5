// Maps each rank's bins and call sites to the numbers of the whole program.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/merge/exchange.hpp"
#include "libprofile/merge/program_bins.hpp"
#include "libprofile/record/store/segment_store.hpp"

namespace halcyon {

/// The records of one rank. The store must be settled.
struct RankRecords {
  const SegmentStore* store = nullptr;
  std::vector<std::string> sites;  // by the store's site indices
  double nanoseconds_per_tick = 1.0;
  double compute_scale = 1.0;  // factor from the stored compute feature to the profile's units
};

/// CPU time is stored in ticks, PAPI events as counts.
inline double compute_scale(std::string_view counter, double nanoseconds_per_tick) {
  return counter == "none" ? 0.0 : counter == "cpu" ? nanoseconds_per_tick : 1.0;
}

inline double scale_of(const RankRecords& records, std::size_t feature) {
  return feature == index_of(Feature::compute) ? records.compute_scale : 1.0;
}

struct ProgramNames {
  std::array<std::vector<double>, feature_count> bins;  // for the values of single ranks
  std::vector<std::size_t> active;                      // features with more than one bin
  std::vector<std::string> sites;                       // in ascending order
};

/// The bins and call sites of the ranks whose records this process has. It does not grow with their number.
class OwnNames {
 public:
  OwnNames();
  /// The ranks come in order.
  void add(const RankRecords& rank);
  /// The ranks' counters differ: their compute features are not comparable, and count as 0.
  void drop_compute();

 private:
  friend ProgramNames merge_names(const Exchange& exchange, OwnNames& own);
  std::vector<std::unique_ptr<ProgramQuantizer>> quantizers_;  // by feature
  std::set<std::string> sites_;
};

/// Collective. The result covers the ranks of all processes.
ProgramNames merge_names(const Exchange& exchange, OwnNames& own);

}  // namespace halcyon
