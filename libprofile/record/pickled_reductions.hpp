// mpi4py's reductions of objects: they consist of messages, and gather all ranks like a Reduce (gathering.hpp).
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "libprofile/record/gathering.hpp"

namespace halcyon {

/// One rank's part in a reduction of objects by mpi4py. Pickles travel along a tree to rank 0 of a communicator that
/// mpi4py has duplicated for itself. Each takes two messages: its length, then the pickle (PyMPI_reduce_p2p of
/// msgpickle.pxi, the same from 3.0 to 4.1). comm.allreduce() then calls Bcast from rank 0.
class PickledReduction {
 public:
  PickledReduction() = default;
  PickledReduction(int rank, int ranks) : rank_(static_cast<unsigned>(rank)), ranks_(static_cast<unsigned>(ranks)) {
    begin();
  }

  /// This rank has sent or received a message over the communicator. True if its part in the reduction is now complete.
  bool ends_with(bool is_sent, int other, int tag) {
    if (ranks_ <= 1) return false;
    if (!is_expected(is_sent, other, tag)) begin();
    if (!is_expected(is_sent, other, tag)) return false;
    tag_ = tag;
    has_begun_ = true;
    length_is_known_ = !length_is_known_;
    if (length_is_known_) return false;
    bit_ <<= 1;
    pass_over_absent();
    if (bit_ < ranks_) return false;
    begin();
    return true;
  }

 private:
  void begin() {
    bit_ = 1;
    length_is_known_ = false;
    has_begun_ = false;
    pass_over_absent();
  }
  bool sends() const { return (rank_ & bit_) != 0; }
  unsigned other() const { return sends() ? (rank_ & ~bit_) % ranks_ : rank_ | bit_; }
  void pass_over_absent() {
    while (bit_ < ranks_ && other() >= ranks_) bit_ <<= 1;
  }
  bool is_expected(bool is_sent, int other_rank, int tag) const {
    return is_sent == sends() && other_rank == static_cast<int>(other()) && (!has_begun_ || tag == tag_);
  }

  unsigned rank_ = 0;
  unsigned ranks_ = 1;
  unsigned bit_ = 1;  // of the tree: the partner's rank differs in this bit
  bool length_is_known_ = false;
  bool has_begun_ = false;
  int tag_ = 0;  // of the reduction in progress
};

/// Communicators that may be mpi4py's own.
class PickledComms {
 public:
  struct One {
    MPI_Comm comm{};
    int process = Gathering::nowhere;  // its rank 0, as a rank of the world
    PickledReduction reduction;
    bool is_alone = false;         // one rank only, which sends no messages
    bool length_is_known = false;  // if alone: the last Bcast was of a length, so the next is of a pickle
  };

  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  /// Replaces an entry with the same handle, or the oldest one if the table is full.
  void add(const One& one) {
    if (One* const freed = find(one.comm); freed != nullptr) {
      *freed = one;
      return;
    }
    const std::size_t count = count_.load(std::memory_order_relaxed);
    all_[count % all_.size()] = one;
    count_.store(count + 1, std::memory_order_relaxed);
  }
  One* find(MPI_Comm comm) {
    const std::size_t count = count_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < all_.size() && i < count; ++i) {
      if (all_[i].comm == comm) return &all_[i];
    }
    return nullptr;
  }

 private:
  std::array<One, 16> all_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace halcyon
