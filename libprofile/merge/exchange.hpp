// How the ranks of a run communicate while their records are merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halcyon {

/// All ranks call the same functions in the same order. They throw std::runtime_error if ranks cannot be reached.
class Exchange {
 public:
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// The smallest of each value over all ranks.
  virtual std::vector<std::uint64_t> least(const std::vector<std::uint64_t>& values) const = 0;
  /// The data of all ranks in order of rank, at the root only. Every rank sends the same number of bytes.
  virtual std::vector<std::byte> gather(const std::vector<std::byte>& own) const = 0;
  /// Copies the root's data to every rank.
  virtual void broadcast(std::vector<std::byte>& data) const = 0;
  /// Sends `bytes` to every rank, and receives as many from every rank.
  virtual void all_to_all(const std::byte* send, std::byte* receive, std::size_t bytes) const = 0;
  virtual void send(int to, const std::vector<std::byte>& data) const = 0;
  virtual std::vector<std::byte> receive(int from) const = 0;

  bool is_root() const { return rank() == 0; }

 protected:
  ~Exchange() = default;
};

/// Along a binomial tree: every rank calls `merge(data)` with the pack() of each child; the root ends with everything.
template <class Pack, class Merge>
void merge_to_root(const Exchange& exchange, Pack pack, Merge merge) {
  for (int step = 1; step < exchange.ranks(); step *= 2) {
    if ((exchange.rank() & step) != 0) {
      exchange.send(exchange.rank() - step, pack());
      return;
    }
    if (exchange.rank() + step < exchange.ranks()) merge(exchange.receive(exchange.rank() + step));
  }
}

/// The same. Then every rank gets what the root packs.
template <class Pack, class Merge>
std::vector<std::byte> merge_over_ranks(const Exchange& exchange, Pack pack, Merge merge) {
  merge_to_root(exchange, pack, merge);
  std::vector<std::byte> merged = exchange.is_root() ? pack() : std::vector<std::byte>();
  exchange.broadcast(merged);
  return merged;
}

/// One process that has the records of all ranks, so it communicates with no other.
class Alone final : public Exchange {
 public:
  int rank() const override { return 0; }
  int ranks() const override { return 1; }
  std::vector<std::uint64_t> least(const std::vector<std::uint64_t>& values) const override { return values; }
  std::vector<std::byte> gather(const std::vector<std::byte>& own) const override { return own; }
  void broadcast(std::vector<std::byte>&) const override {}
  void all_to_all(const std::byte* send, std::byte* receive, std::size_t bytes) const override {
    std::copy_n(send, bytes, receive);
  }
  void send(int, const std::vector<std::byte>&) const override {}
  std::vector<std::byte> receive(int) const override { return {}; }
};

}  // namespace halcyon
