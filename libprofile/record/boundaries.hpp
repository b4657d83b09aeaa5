// Which operations end segments. All ranks must choose alike, so that nothing but what is the same on all of them
// counts.
#pragma once

#include <atomic>
#include <cstdint>

#include "libprofile/format/features.hpp"
#include "libprofile/record/this_run.hpp"

namespace halcyon {

class Boundaries {
 public:
  /// `choice`: what may end segments; `ranks`: how many a communicator must have, 0 for as many as the world.
  void choose(BoundaryChoice choice, int ranks) {
    choice_ = choice;
    ranks_ = ranks;
  }

  /// Whether an operation over this communicator may end a segment.
  bool counts(MPI_Comm comm, const ThisRun& run) const;

  /// Whether boundaries of this kind end segments. Marks are asked one by one: where the setting is auto, those that
  /// come while nothing else repeats end segments.
  bool uses(BoundaryChoice kind) const {
    return choice_ == kind || (choice_ == BoundaryChoice::automatic && kind != BoundaryChoice::pcontrol);
  }
  bool uses_next_mark();

  /// All ranks have synchronised, or posted that they will: called in the same order on all of them.
  void note_synchronization() { synchronizations_.fetch_add(1, std::memory_order_relaxed); }

  /// A segment has ended so.
  void note(Boundary kind) { kinds_ = (kinds_ ^ static_cast<std::uint64_t>(kind)) * 0x100000001b3u; }
  /// A hash of the kinds of all boundaries, in order.
  std::uint64_t kinds() const { return kinds_; }

 private:
  BoundaryChoice choice_ = BoundaryChoice::automatic;
  int ranks_ = 0;
  std::atomic<unsigned> synchronizations_{0};
  std::atomic<unsigned> marks_{0};
  std::uint64_t kinds_ = 0;
};

}  // namespace halcyon
