// Exchange between the ranks of a running program: by MPI, on the recorder's own communicator, bypassing every
// interposed tool.
#pragma once

#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/merge/exchange.hpp"

namespace halcyon {

/// Used by all ranks together. With one rank, no MPI is called, and there is no communicator.
class MpiExchange final : public Exchange {
 public:
  MpiExchange(int rank, int ranks, MPI_Comm comm) : rank_(rank), ranks_(ranks), comm_(comm) {}

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  std::vector<std::uint64_t> least(const std::vector<std::uint64_t>& values) const override;
  std::vector<std::byte> gather(const std::vector<std::byte>& own) const override;
  void broadcast(std::vector<std::byte>& data) const override;
  void all_to_all(const std::byte* send, std::byte* receive, std::size_t bytes) const override;
  void send(int to, const std::vector<std::byte>& data) const override;
  std::vector<std::byte> receive(int from) const override;

 private:
  int rank_;
  int ranks_;
  MPI_Comm comm_;
};

}  // namespace halcyon
