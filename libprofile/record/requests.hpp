// Pending requests: receives, whose bytes are known only at completion, persistent operations, and boundaries yet to
// complete.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "libprofile/format/boundary.hpp"
#include "libprofile/format/features.hpp"

namespace halcyon {

struct PendingRequest {
  enum class Operation : std::uint8_t { receive, send, partitioned_send, collective, boundary_only };

  std::uint64_t number = 0;  // RequestTable::made() when it was inserted
  std::uint64_t bytes = 0;
  const void* site = nullptr;
  Operation operation = Operation::receive;
  Feature counted = Feature::receives_nonblocking;  // the count that MPI_Start adds to
  Boundary boundary = Boundary::finalize;
  bool ends_segment = false;
  bool persistent = false;
  bool active = false;       // persistent ones only: started and not yet completed
  bool is_complete = false;  // MPI has completed it, and the segment that it ends is still open
};

/// Requests by handle, open addressing with linear probing. MPI reuses handles, so a new request replaces an old one
/// with the same handle. If the completion of a request was not seen, it is overwritten and never mistaken for another.
///
/// Between threads: MPI gives a handle to a new request as soon as it has completed the old one, perhaps before the
/// thread that completes the old one has noted it. So a thread reads made() before it asks MPI, and names its requests
/// by that and the handle.
class RequestTable {
 public:
  /// May be called while another thread changes the table. The answer is right for the caller's own requests, and for
  /// those that another thread has handed over to it.
  bool empty() const { return size() == 0; }

  /// Grows with each request that is inserted, and each handle that is handed over. May be called while another thread
  /// changes the table.
  std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

  PendingRequest* find(MPI_Request request) {
    if (empty()) return nullptr;
    const std::uint64_t key = key_of(request);
    for (std::size_t at = home(key);; at = next(at)) {
      if (entries_[at].key == key) return &entries_[at].value;
      if (entries_[at].key == 0) return nullptr;
    }
  }

  /// False if memory has run out: the request is then not in the table.
  bool insert(MPI_Request request, const PendingRequest& value) {
    if ((size() + 1) * 2 > capacity_ && !grow()) return false;
    PendingRequest numbered = value;
    numbered.number = made() + 1;
    made_.store(numbered.number, std::memory_order_relaxed);
    place(key_of(request), numbered);
    return true;
  }

  /// MPI has given the handle to a new request: an old one under it is complete, and kept for the thread that has
  /// completed it. If no thread ever asks for it, later ones take its place.
  void hand_over(MPI_Request request) {
    const PendingRequest* const old = find(request);
    if (old == nullptr) return;
    // Who asks from now on means the new request, whether that is in the table or not.
    const std::uint64_t until = made() + 1;
    made_.store(until, std::memory_order_relaxed);
    replaced_[next_replaced_++ % replaced_.size()] = {{key_of(request), *old}, until};
    erase(request);
  }

  /// The pending operation under the handle when `made` requests had been made; null if there is none. An inactive
  /// persistent request completes at once, with nothing.
  PendingRequest* pending(MPI_Request request, std::uint64_t made) {
    PendingRequest* const found = find(request);
    if (found != nullptr && found->number <= made) return found->active || !found->persistent ? found : nullptr;
    Entry* const replaced = replaced_at(key_of(request), made);
    return replaced != nullptr ? &replaced->value : nullptr;
  }

  /// Ends what pending() has returned.
  void complete(MPI_Request request, PendingRequest* known) {
    if (Entry* const replaced = replaced_at(key_of(request), known->number);
        replaced != nullptr && &replaced->value == known) {
      replaced->key = 0;
    } else if (known->persistent) {
      known->active = false;
    } else {
      erase(request);
    }
  }

  void erase(MPI_Request request) {
    if (empty()) return;
    const std::uint64_t key = key_of(request);
    std::size_t at = home(key);
    for (; entries_[at].key != key; at = next(at)) {
      if (entries_[at].key == 0) return;
    }
    // Backward shift: entries that were probed past the hole move into it, so that look-ups need no tombstones.
    for (std::size_t hole = at, probe = next(at);; probe = next(probe)) {
      if (entries_[probe].key == 0) {
        entries_[hole].key = 0;
        break;
      }
      const std::size_t distance_home = (probe - home(entries_[probe].key)) & (capacity_ - 1);
      const std::size_t distance_hole = (probe - hole) & (capacity_ - 1);
      if (distance_home >= distance_hole) {
        entries_[hole] = entries_[probe];
        hole = probe;
      }
    }
    set_size(size() - 1);
  }

 private:
  struct Entry {
    std::uint64_t key = 0;  // 0: free
    PendingRequest value;
  };

  /// A request whose handle another one has got.
  struct Replaced : Entry {
    std::uint64_t until = 0;  // made() when that happened
  };

  static std::uint64_t key_of(MPI_Request request) {
    std::uint64_t key = 0;
    std::memcpy(&key, &request, sizeof request);
    return key + 1;  // 0 is a valid handle, but as a key it means free
  }
  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & (capacity_ - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }

  // The entry of the key, or the free one where it belongs.
  Entry& place_of(std::uint64_t key) {
    std::size_t at = home(key);
    while (entries_[at].key != 0 && entries_[at].key != key) at = next(at);
    return entries_[at];
  }
  void place(std::uint64_t key, const PendingRequest& value) {
    Entry& entry = place_of(key);
    if (entry.key == 0) set_size(size() + 1);
    entry = {key, value};
  }

  // Other threads ask for the size meanwhile, so it stays as it is.
  bool grow() {
    constexpr std::size_t first_capacity = 64;
    const std::size_t larger = std::max(first_capacity, capacity_ * 2);
    std::unique_ptr<Entry[]> old(new (std::nothrow) Entry[larger]);
    if (old == nullptr) return false;
    old.swap(entries_);
    const std::size_t old_capacity = std::exchange(capacity_, larger);
    for (std::size_t at = 0; at < old_capacity; ++at) {
      if (old[at].key != 0) place_of(old[at].key) = old[at];
    }
    return true;
  }

  // The one that had the handle when `made` requests had been made.
  Entry* replaced_at(std::uint64_t key, std::uint64_t made) {
    if (next_replaced_ == 0) return nullptr;
    for (Replaced& entry : replaced_) {
      if (entry.key == key && entry.value.number <= made && made < entry.until) return &entry;
    }
    return nullptr;
  }

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  void set_size(std::size_t size) { size_.store(size, std::memory_order_relaxed); }

  std::atomic<std::size_t> size_{0};  // written by one thread at a time
  std::atomic<std::uint64_t> made_{0};
  std::size_t capacity_ = 0;  // 0 or a power of two
  std::unique_ptr<Entry[]> entries_;
  // As many as threads may be between MPI's completion of a request and their note of it.
  std::array<Replaced, 64> replaced_{};
  std::size_t next_replaced_ = 0;
};

}  // namespace halcyon
