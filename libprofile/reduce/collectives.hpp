// The few ways in which the reduction lets ranks talk, on a communicator of its own, past every interposed tool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/record/packing.hpp"

namespace halcyon {

inline void check(int code, const char* what) {
  if (code != MPI_SUCCESS) throw std::runtime_error(std::string(what) + " failed while the ranks were merged");
}

class World {
 public:
  World(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    if (ranks == 1) return;  // talks to nobody, needs no MPI
    // Not a duplicate: that would call what the program has attached to its world for such a case.
    check(mpi.Comm_split(mpi.comm_world, 0, rank, &comm_), "MPI_Comm_split");
    mpi.Comm_set_errhandler(comm_, mpi.errors_return);
  }
  ~World() {
    if (ranks_ > 1) mpi.Comm_free(&comm_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool is_root() const { return rank_ == 0; }

  void min_and_max(const std::vector<std::uint64_t>& values, std::vector<std::uint64_t>& least,
                   std::vector<std::uint64_t>& most) const {
    least = values;
    most = values;
    if (ranks_ == 1) return;
    const int count = static_cast<int>(values.size());
    check(mpi.Allreduce(values.data(), least.data(), count, mpi.uint64, mpi.min, comm_), "MPI_Allreduce");
    check(mpi.Allreduce(values.data(), most.data(), count, mpi.uint64, mpi.max, comm_), "MPI_Allreduce");
  }

  double sum(double value) const {
    if (ranks_ == 1) return value;
    double total = 0.0;
    check(mpi.Allreduce(&value, &total, 1, mpi.real64, mpi.sum, comm_), "MPI_Allreduce");
    return total;
  }

  /// Equal numbers of values of every rank, in order of rank, at the root only.
  template <class T>
  std::vector<T> gather(const T* values, std::size_t count) const {
    if (ranks_ == 1) return {values, values + count};
    std::vector<T> all(is_root() ? count * static_cast<std::size_t>(ranks_) : 0);
    const int bytes = static_cast<int>(count * sizeof(T));
    check(mpi.Gather(values, bytes, mpi.byte, all.data(), bytes, mpi.byte, 0, comm_), "MPI_Gather");
    return all;
  }

  template <class T>
  void broadcast(std::vector<T>& values) const {
    if (ranks_ == 1) return;
    std::uint64_t count = values.size();
    check(mpi.Bcast(&count, 1, mpi.uint64, 0, comm_), "MPI_Bcast");
    values.resize(count);
    check(mpi.Bcast(values.data(), static_cast<int>(count * sizeof(T)), mpi.byte, 0, comm_), "MPI_Bcast");
  }

  /// `bytes` to and from every rank.
  void all_to_all(const std::byte* send, std::byte* receive, std::size_t bytes) const {
    if (ranks_ == 1) {
      std::copy_n(send, bytes, receive);
      return;
    }
    const int count = static_cast<int>(bytes);
    check(mpi.Alltoall(send, count, mpi.byte, receive, count, mpi.byte, comm_), "MPI_Alltoall");
  }

  void send(int to, const std::vector<std::byte>& data) const {
    const std::uint64_t size = data.size();
    check(mpi.Send(&size, 1, mpi.uint64, to, tag, comm_), "MPI_Send");
    for (std::size_t at = 0; at < data.size(); at += most_at_once) {
      check(mpi.Send(data.data() + at, static_cast<int>(std::min(most_at_once, data.size() - at)), mpi.byte, to, tag,
                     comm_),
            "MPI_Send");
    }
  }
  std::vector<std::byte> receive(int from) const {
    std::uint64_t size = 0;
    check(mpi.Recv(&size, 1, mpi.uint64, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    std::vector<std::byte> data(size);
    for (std::size_t at = 0; at < data.size(); at += most_at_once) {
      check(mpi.Recv(data.data() + at, static_cast<int>(std::min(most_at_once, data.size() - at)), mpi.byte, from, tag,
                     comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
    return data;
  }

  /// Up a binomial tree: every rank's `merge(data)` takes in its children's `pack()`; the root ends with all of it.
  template <class Pack, class Merge>
  void merge_to_root(Pack pack, Merge merge) const {
    for (int step = 1; step < ranks_; step *= 2) {
      if ((rank_ & step) != 0) {
        send(rank_ - step, pack());
        return;
      }
      if (rank_ + step < ranks_) merge(receive(rank_ + step));
    }
  }

 private:
  static constexpr int tag = 1;
  static constexpr std::size_t most_at_once = std::size_t{1} << 30;

  int rank_;
  int ranks_;
  MPI_Comm comm_{};
};

}  // namespace halcyon
