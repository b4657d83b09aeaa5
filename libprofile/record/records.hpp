// The records of the segments that have ended: in memory, and in the part that this rank spills.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/call_sites.hpp"
#include "libprofile/record/parts/part_file.hpp"
#include "libprofile/record/store/segment_store.hpp"
#include "libprofile/record/store/tail.hpp"
#include "libprofile/record/this_run.hpp"
#include "libprofile/shared/receipt.hpp"

namespace halcyon {

class Records {
 public:
  /// Called before the first segment. Throws if memory runs out.
  void start(const ThisRun& run, bool with_injection);

  CallSites& sites() { return sites_; }
  const CallSites& sites() const { return sites_; }
  SegmentStore& segments() { return *segments_; }
  const SegmentStore& segments() const { return *segments_; }

  /// Opens the receipt of `halcyon run`, if it started this run.
  void open_receipt(const Settings& settings);
  /// Tells `halcyon run` where the profile is, or the parts. True if it reads this, or did not start the run.
  /// Async-signal-safe.
  bool tell(Left what, const char* path);

  /// Sets the path of this rank's part. No file is touched until something is spilled.
  /// `host`: the name of this one.
  void place_part(const ThisRun& run, const RunFacts& facts, const std::string& host);

  /// Writes all records into the part, and how the run ended, if it did. False if that fails. If it may end, and
  /// nothing of the part could be written, they go to a second place. Async-signal-safe, but not while a segment is
  /// added.
  bool spill(PartEnd end, const RankFigures& figures);

  /// Grows with each successful or failed write to the part.
  std::uint64_t writes() const { return part_.writes(); }
  bool is_spilled() const { return part_.is_open(); }
  const std::string& directory_of_parts() const { return part_.directory(); }
  /// Why the last write failed, for the user.
  std::string spill_failure() const;

  /// The last message of a run that dies: the command that makes a profile of its parts. Empty if `halcyon run` prints
  /// it.
  const std::string& last_line() const { return last_lines_[part_.is_in_second_place() ? 1 : 0]; }
  /// That message at the rank that asks first, or at rank 0 why there are no parts. Empty if there is nothing to say.
  /// Without the command, launchers may kill rank 0 before it says anything. Async-signal-safe.
  std::string_view outcome_without_finalize() const;

  /// Called when the profile is written: removes this rank's part, or the parts of all ranks.
  void remove_part() { part_.remove(); }
  void remove_parts_of_all_ranks() { part_.remove_run(); }

  /// Has the process that touches the spool save the frames of the run; as SpoolKeeper::save(). EPIPE: there is none.
  int save_frames(const std::string& profile, int frames) { return part_.save(profile, frames); }
  /// Leaves what follows to another one.
  void leave_to(const std::string& keeper) { part_.leave_to(keeper); }
  /// Nothing more is written. Async-signal-safe.
  void let_keeper_go() { part_.leave_no_more(); }

 private:
  bool write(const RankFigures& figures);

  CallSites sites_;
  PartFile part_;
  std::unique_ptr<SegmentStore> segments_;
  std::unique_ptr<std::byte[]> tail_;  // null until the part has a place
  PartEnd end_ = part_is_running;      // of the last tail
  std::size_t saved_ = 0;              // segments, with it
  Receipt receipt_;
  bool keeps_profile_ = true;
  bool is_launched_ = false;  // by `halcyon run`
  bool has_other_hosts_ = false;
  bool is_told_ = false;                   // where the parts are
  std::array<std::string, 2> last_lines_;  // for the two places of the part
  std::string unwritten_;                  // what is said instead if nothing could be written
  std::string without_records_;            // and if there was nothing to write
};

}  // namespace halcyon
