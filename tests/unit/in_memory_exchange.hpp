// Many ranks in one process, each a thread: they talk through memory.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "libprofile/merge/exchange.hpp"

namespace halcyon::testing {

/// What the ranks of one simulated run share.
class SharedMemory {
 public:
  explicit SharedMemory(int ranks) : ranks_(ranks), shown_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return ranks_; }

  /// Shows `data` to all others, calls `look` when all have shown theirs, and returns when all have looked.
  template <class Look>
  void show(int rank, const std::byte* data, std::size_t size, Look look) {
    shown_[static_cast<std::size_t>(rank)] = {data, size};
    wait_for_all();
    look(shown_);
    wait_for_all();
  }
  void put(int from, int to, std::vector<std::byte> message) {
    const std::lock_guard lock(mutex_);
    messages_[{from, to}].push_back(std::move(message));
    changed_.notify_all();
  }
  std::vector<std::byte> take(int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<std::byte>>& waiting = messages_[{from, to}];
    changed_.wait(lock, [&waiting] { return !waiting.empty(); });
    std::vector<std::byte> message = std::move(waiting.front());
    waiting.pop_front();
    return message;
  }

 private:
  using Shown = std::pair<const std::byte*, std::size_t>;

  void wait_for_all() {
    std::unique_lock lock(meeting_mutex_);
    const std::size_t meeting = meeting_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      ++meeting_;
      met_.notify_all();
      return;
    }
    met_.wait(lock, [&] { return meeting_ != meeting; });
  }

  int ranks_;
  std::vector<Shown> shown_;
  std::mutex meeting_mutex_;
  std::condition_variable met_;
  int arrived_ = 0;
  std::size_t meeting_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages_;
};

class InMemoryExchange final : public Exchange {
 public:
  InMemoryExchange(int rank, SharedMemory& shared) : rank_(rank), shared_(shared) {}

  int rank() const override { return rank_; }
  int ranks() const override { return shared_.ranks(); }
  std::vector<std::uint64_t> least(const std::vector<std::uint64_t>& values) const override {
    std::vector<std::uint64_t> least = values;
    shared_.show(rank_, reinterpret_cast<const std::byte*>(values.data()), values.size(), [&](const auto& shown) {
      for (const auto& [data, count] : shown) {
        const auto* others = reinterpret_cast<const std::uint64_t*>(data);
        for (std::size_t i = 0; i < count; ++i) least[i] = std::min(least[i], others[i]);
      }
    });
    return least;
  }
  std::vector<std::byte> gather(const std::vector<std::byte>& own) const override {
    std::vector<std::byte> all;
    shared_.show(rank_, own.data(), own.size(), [&](const auto& shown) {
      if (!is_root()) return;
      for (const auto& [data, size] : shown) all.insert(all.end(), data, data + size);
    });
    return all;
  }
  void broadcast(std::vector<std::byte>& data) const override {
    const std::vector<std::byte> own = data;
    shared_.show(rank_, own.data(), own.size(), [&](const auto& shown) {
      data.assign(shown.front().first, shown.front().first + shown.front().second);
    });
  }
  void all_to_all(const std::byte* send, std::byte* receive, std::size_t bytes) const override {
    shared_.show(rank_, send, 0, [&](const auto& shown) {
      for (std::size_t from = 0; from < shown.size(); ++from) {
        std::memcpy(receive + from * bytes, shown[from].first + static_cast<std::size_t>(rank_) * bytes, bytes);
      }
    });
  }
  void send(int to, const std::vector<std::byte>& data) const override { shared_.put(rank_, to, data); }
  std::vector<std::byte> receive(int from) const override { return shared_.take(from, rank_); }

 private:
  int rank_;
  SharedMemory& shared_;
};

/// Runs `body` once for each rank, all at the same time. False where the machine does not let so many threads start.
inline bool run_ranks(int ranks, const std::function<void(const Exchange&)>& body) {
  struct Start {
    const std::function<void(const Exchange&)>* body;
    SharedMemory* shared;
    int rank;
    std::mutex* gate;
    bool* may_run;
  };
  SharedMemory shared(ranks);
  std::mutex gate;
  bool may_run = true;
  std::vector<Start> starts;
  for (int rank = 0; rank < ranks; ++rank) starts.push_back({&body, &shared, rank, &gate, &may_run});
  constexpr std::size_t stack_bytes = std::size_t{512} << 10;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  std::vector<pthread_t> threads(starts.size());
  std::size_t started = 0;
  {
    const std::lock_guard all_start_together(gate);
    while (may_run && started < starts.size()) {
      may_run = pthread_create(
                    &threads[started], &attributes,
                    [](void* argument) -> void* {
                      const auto* start = static_cast<const Start*>(argument);
                      bool runs = false;
                      {
                        const std::lock_guard wait_for_all(*start->gate);
                        runs = *start->may_run;
                      }
                      if (runs) (*start->body)(InMemoryExchange(start->rank, *start->shared));
                      return nullptr;
                    },
                    &starts[started]) == 0;
      if (may_run) ++started;
    }
  }
  for (std::size_t i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
  pthread_attr_destroy(&attributes);
  return may_run;
}

}  // namespace halcyon::testing
