// What is kept of the segments that have ended: in memory, and in the part that this rank spills.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "libprofile/record/call_sites.hpp"
#include "libprofile/record/parts/part_file.hpp"
#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/store/segment_store.hpp"
#include "libprofile/record/store/tail.hpp"
#include "libprofile/record/this_run.hpp"

namespace halcyon {

class Records {
 public:
  /// Before the first segment. Throws where memory ends.
  void start(std::size_t memory_bytes, bool with_injection);

  CallSites& sites() { return sites_; }
  const CallSites& sites() const { return sites_; }
  SegmentStore& segments() { return *segments_; }
  const SegmentStore& segments() const { return *segments_; }

  /// Says where this rank's part will be; nothing is touched until something is spilled.
  void place_part(const ThisRun& run, const RunFacts& facts);

  /// All that is recorded goes into the part, which then says how the run ended, if it did. False where that fails.
  /// Async-signal-safe, but not while a segment is added.
  bool spill(PartEnd end, const RankFigures& figures);

  /// Grows with each writing of the part, successful or failed.
  std::uint64_t writes() const { return part_.writes(); }
  bool is_spilled() const { return part_.is_open(); }
  /// Why the last writing failed, for the user.
  std::string spill_failure() const;

  /// What a dying run says last: how a profile is made of its parts. Empty where `halcyon run` says it.
  const std::string& last_line() const { return last_line_; }

  /// The profile is written: this rank's part is not needed any more, or those of all ranks.
  void remove_part() { part_.remove(); }
  void remove_parts_of_all_ranks() { part_.remove_run(); }

 private:
  CallSites sites_;
  PartFile part_;
  std::unique_ptr<SegmentStore> segments_;
  std::unique_ptr<std::byte[]> tail_;  // null until the part has a place
  std::string receipt_;
  bool has_receipt_ = false;
  std::string last_line_;
};

}  // namespace halcyon
