#include "libprofile/reduce/mpi_exchange.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace halcyon {
namespace {

constexpr int tag = 1;
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // bytes, so that the count of a piece fits into an int

void check(int code, const char* what) {
  if (code != MPI_SUCCESS) throw std::runtime_error(std::string(what) + " failed while the ranks were merged");
}

// Calls `talk(bytes, offset)` for pieces whose count fits into an int.
template <class Talk>
void in_pieces(std::size_t bytes, Talk talk) {
  for (std::size_t at = 0; at < bytes; at += most_at_once) {
    talk(static_cast<int>(std::min(most_at_once, bytes - at)), at);
  }
}

}  // namespace

std::vector<std::uint64_t> MpiExchange::least(const std::vector<std::uint64_t>& values) const {
  if (ranks_ == 1) return values;
  std::vector<std::uint64_t> least(values.size());
  check(mpi.Allreduce(values.data(), least.data(), static_cast<int>(values.size()), mpi.uint64, mpi.min, comm_),
        "MPI_Allreduce");
  return least;
}

std::vector<std::byte> MpiExchange::gather(const std::vector<std::byte>& own) const {
  if (ranks_ == 1) return own;
  std::vector<std::byte> all(is_root() ? own.size() * static_cast<std::size_t>(ranks_) : 0);
  const int bytes = static_cast<int>(own.size());
  check(mpi.Gather(own.data(), bytes, mpi.byte, all.data(), bytes, mpi.byte, 0, comm_), "MPI_Gather");
  return all;
}

void MpiExchange::broadcast(std::vector<std::byte>& data) const {
  if (ranks_ == 1) return;
  std::uint64_t size = data.size();
  check(mpi.Bcast(&size, 1, mpi.uint64, 0, comm_), "MPI_Bcast");
  data.resize(size);
  in_pieces(size, [&](int bytes, std::size_t at) {
    check(mpi.Bcast(data.data() + at, bytes, mpi.byte, 0, comm_), "MPI_Bcast");
  });
}

void MpiExchange::all_to_all(const std::byte* send, std::byte* receive, std::size_t bytes) const {
  if (ranks_ == 1) {
    std::copy_n(send, bytes, receive);
    return;
  }
  const int count = static_cast<int>(bytes);
  check(mpi.Alltoall(send, count, mpi.byte, receive, count, mpi.byte, comm_), "MPI_Alltoall");
}

void MpiExchange::send(int to, const std::vector<std::byte>& data) const {
  const std::uint64_t size = data.size();
  check(mpi.Send(&size, 1, mpi.uint64, to, tag, comm_), "MPI_Send");
  in_pieces(size, [&](int bytes, std::size_t at) {
    check(mpi.Send(data.data() + at, bytes, mpi.byte, to, tag, comm_), "MPI_Send");
  });
}

std::vector<std::byte> MpiExchange::receive(int from) const {
  std::uint64_t size = 0;
  check(mpi.Recv(&size, 1, mpi.uint64, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
  std::vector<std::byte> data(size);
  in_pieces(size, [&](int bytes, std::size_t at) {
    check(mpi.Recv(data.data() + at, bytes, mpi.byte, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
  });
  return data;
}

}  // namespace halcyon
