#include "libprofile/record/boundaries.hpp"

namespace halcyon {

bool Boundaries::counts(MPI_Comm comm, const ThisRun& run) const {
  const int enough = ranks_ > 0 ? ranks_ : run.ranks;
  int size = 0;
  int inter = 0;
  mpi.Comm_size(comm, &size);
  if (size < enough) return false;
  mpi.Comm_test_inter(comm, &inter);
  if (inter != 0) return false;
  return !run.several_worlds.load(std::memory_order_relaxed) || comm == mpi.comm_world ||
         run.members_of_this_world(comm) >= enough;
}

// Marks that come early or seldom may be meant for another tool, and come from some ranks only. If there are enough
// synchronisations to judge a run by, marks add nothing. Both counts are the same on all ranks.
bool Boundaries::uses_next_mark() {
  constexpr unsigned fewest_marks = 5;  // fewer do not count as repeated
  const unsigned mark = marks_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (choice_ != BoundaryChoice::automatic) return choice_ == BoundaryChoice::pcontrol;
  return mark >= fewest_marks && synchronizations_.load(std::memory_order_relaxed) < fewest_judged_segments;
}

}  // namespace halcyon
