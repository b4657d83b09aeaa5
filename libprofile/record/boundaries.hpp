// Decides which operations end segments. All ranks must make the same decisions, so these only use facts that are the
// same on all ranks.
#pragma once

#include <atomic>
#include <cstdint>

#include "libprofile/format/boundary.hpp"
#include "libprofile/format/features.hpp"
#include "libprofile/record/this_run.hpp"
#include "libprofile/system/fnv1a.hpp"

namespace halcyon {

class Boundaries {
 public:
  /// `choice`: which operations may end segments. `ranks`: how many ranks a communicator needs, 0: as many as the
  /// world.
  void choose(BoundaryChoice choice, int ranks) {
    choice_ = choice;
    ranks_ = ranks;
  }

  /// Whether an operation over this communicator may end a segment.
  bool counts(MPI_Comm comm, const ThisRun& run) const;

  /// Whether the operations of this choice end segments. The setting auto takes all-to-all and rooted ones. For marks,
  /// call uses_next_mark() for each one: with auto, they end segments only while the run has few synchronisations.
  bool uses(BoundaryChoice choice) const {
    const bool is_in_auto = choice == BoundaryChoice::all_to_all || choice == BoundaryChoice::rooted;
    return choice_ == choice || (choice_ == BoundaryChoice::automatic && is_in_auto);
  }
  bool uses_next_mark();

  /// All ranks have synchronised, or posted a synchronisation. Called in the same order on all ranks.
  void note_synchronization() { synchronizations_.fetch_add(1, std::memory_order_relaxed); }

  /// A boundary of this kind has ended a segment. Called within a Change.
  void note(Boundary kind) {
    hash_of_kinds_ = fnv1a_step(hash_of_kinds_, static_cast<unsigned char>(kind));
    ended_.store(ended_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Whether steps without a boundary are worth looking for, so far: a run can be judged by enough boundaries.
  bool leaves_room_for_steps() const {
    return choice_ == BoundaryChoice::automatic && ended_.load(std::memory_order_relaxed) < fewest_judged_segments;
  }
  /// A hash of the kinds of all boundaries, in order.
  std::uint64_t hash_of_kinds() const { return hash_of_kinds_; }

 private:
  BoundaryChoice choice_ = BoundaryChoice::automatic;
  int ranks_ = 0;
  std::atomic<unsigned> synchronizations_{0};
  std::atomic<unsigned> marks_{0};
  std::atomic<unsigned> ended_{0};  // segments
  std::uint64_t hash_of_kinds_ = 0;
};

}  // namespace halcyon
