// Merging the rows that several ranks have of a segment into one row of the profile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/record/segment_store.hpp"
#include "libprofile/reduce/collectives.hpp"
#include "libprofile/reduce/program_bins.hpp"

namespace halcyon {

/// What one rank recorded. The store must be settled.
struct RankRecords {
  const SegmentStore* store = nullptr;
  std::vector<std::string> sites;  // by the store's site indices
  double nanoseconds_per_tick = 1.0;
  double compute_scale = 1.0;  // of the compute feature as it is stored, to the profile's units
};

/// CPU time is stored in ticks, and events as such.
inline double compute_scale(std::string_view counter, double nanoseconds_per_tick) {
  return counter == "none" ? 0.0 : counter == "cpu" ? nanoseconds_per_tick : 1.0;
}

/// The ranks' own bins and call sites, in the numbers of the whole program.
struct ProgramNames {
  std::array<std::vector<double>, feature_count> bins;  // of the ranks' own values
  std::vector<std::size_t> active;                      // features with more than one bin
  std::vector<std::string> sites;
};

/// Collective: of the ranks that this process has the records of, and those of all others.
ProgramNames merge_names(const World& world, const std::vector<RankRecords>& own);

/// The beginning of a row on the wire, in seconds.
struct RowTimes {
  float duration = 0.0F;
  std::array<float, time_kind_count> kinds{};
  float off_cpu = 0.0F;
  float beyond_usual = 0.0F;
  float injected_requested = 0.0F;  // these two only where intM was loaded
  float injected_actual = 0.0F;

  double of(TimeKind kind) const { return static_cast<double>(kinds[static_cast<std::size_t>(kind)]); }
  double lateness() const;
};

/// The layout of a row on the wire: times, then bins.
struct RowLayout {
  std::size_t time_bytes;
  std::size_t bins;  // call site, active features

  RowLayout(bool with_injection, std::size_t active_features);
  std::size_t bytes() const { return time_bytes + bins * sizeof(std::uint16_t); }
};

/// Writes rows of one rank in the program's numbers.
class RowWriter {
 public:
  RowWriter(const ProgramNames& names, const RankRecords& records, const RowLayout& layout);
  void write(std::size_t segment, std::byte* row) const;

 private:
  const ProgramNames& names_;
  const SegmentStore& store_;
  RowLayout layout_;
  float seconds_per_tick_;
  std::array<std::array<std::uint16_t, 256>, feature_count> bin_of_slot_{};
  std::array<std::uint16_t, 256> site_of_index_{};
};

/// One column of the profile, as far as this process owns it.
struct OwnedFeature {
  std::vector<double> bins;          // program-wide
  std::vector<std::uint16_t> index;  // (own segments), or empty where there is one bin
  bool reduced = false;
};

/// This process's share of the segments, merged over all ranks; columns as in format/profile.hpp.
struct OwnedSegments {
  std::vector<float> duration;
  std::vector<float> boundary_wait;
  std::vector<float> calls_beyond_usual;
  std::vector<std::uint32_t> last_rank;
  std::array<std::vector<float>, time_kind_count> last_rank_times;
  std::vector<float> last_rank_off_cpu;
  std::vector<float> injected_requested;
  std::vector<float> injected_actual;
  std::vector<float> injected_critical;
  std::array<OwnedFeature, feature_count> features;
  std::vector<std::string> sites;
  std::vector<std::uint16_t> site;
};

/// Makes one row a segment out of the rows of all ranks.
class Merger {
 public:
  /// `ranks`: the numbers of the ranks whose rows come, in their order. `count`: how many segments will be added.
  Merger(const ProgramNames& names, std::vector<std::uint32_t> ranks, bool with_injection, std::size_t count);

  /// One segment; `stride` bytes lie between the rows of consecutive ranks.
  void add(const std::byte* rows, std::size_t stride, const RowLayout& layout);

  /// Collective: numbers patterns program-wide, or bins what is too diverse for that. Ends the merging.
  OwnedSegments finish(const World& world);

 private:
  /// What merging the ranks leaves of a feature before it is binned again.
  struct MergedFeature {
    std::vector<double> value;           // (own segments) median for compute, else sum over ranks
    std::vector<std::uint64_t> pattern;  // (own segments) of counts
    Patterns<double> patterns;
  };

  double median_over_ranks();
  void finish_sites(const World& world);

  const ProgramNames& names_;
  std::vector<std::uint32_t> ranks_;
  bool with_injection_;
  OwnedSegments owned_;
  std::vector<MergedFeature> merged_;  // of the active features
  std::vector<std::uint16_t> middle_;  // (ranks) compute bins of the segment at hand
  std::vector<std::uint64_t> site_pattern_;
  std::vector<std::uint16_t> first_site_;
  Patterns<std::uint16_t> site_patterns_;
};

}  // namespace halcyon
