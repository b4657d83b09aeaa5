// mpi4py's reductions of objects, which are messages, and gather all ranks like a Reduce (gathering.hpp).
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>

#include "libprofile/record/gathering.hpp"

namespace halcyon {

/// mpi4py reduces objects by messages: pickles travel along a tree to rank 0 of a communicator that it has duplicated
/// for itself, each in two messages, its length and itself (PyMPI_reduce_p2p of its msgpickle.pxi, the same from 3.0 to
/// 4.1). This follows one rank's part in it. comm.allreduce() goes on with a Bcast from rank 0.
class PickledReduction {
 public:
  PickledReduction() = default;
  PickledReduction(int rank, int ranks) : rank_(static_cast<unsigned>(rank)), ranks_(static_cast<unsigned>(ranks)) {
    begin();
  }

  /// A message of this rank over the communicator; true where its part ends with it.
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
  unsigned bit_ = 1;  // of the tree: whom this rank differs from by it, it exchanges with
  bool length_is_known_ = false;
  bool has_begun_ = false;
  int tag_ = 0;  // of the reduction under way
};

/// Communicators that may be mpi4py's own.
class PickledComms {
 public:
  struct One {
    MPI_Comm comm{};
    int process = Gathering::nowhere;  // of its rank 0
    PickledReduction reduction;
    bool is_alone = false;         // one rank, that sends itself nothing
    bool length_is_known = false;  // to which its Bcasts alone are known, of a length and of a pickle by turns
  };

  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  /// In place of one that had the handle before, and of the oldest, where there are many.
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
