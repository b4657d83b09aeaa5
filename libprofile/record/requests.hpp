// Pending requests: receives, whose bytes are known only at completion, persistent operations, and boundaries yet to
// complete.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "libprofile/format/boundary.hpp"
#include "libprofile/format/features.hpp"

namespace halcyon {

struct PendingRequest {
  enum class Operation : std::uint8_t { receive, send, partitioned_send, collective, boundary_only };

  std::uint64_t number = 0;  // index of the insertion; 0: the request is not in the table
  std::uint64_t bytes = 0;
  const void* site = nullptr;
  Operation operation = Operation::receive;
  Feature counted = Feature::receives_nonblocking;  // the count that MPI_Start adds to
  Boundary boundary = Boundary::finalize;
  bool ends_segment = false;
  bool persistent = false;
  bool active = false;  // persistent ones only: started and not yet completed
};

/// Requests by handle, open addressing with linear probing. MPI reuses handles, so a new request replaces an old one
/// with the same handle. If the completion of a request was not seen, it is overwritten and never mistaken for another.
class RequestTable {
 public:
  /// May be called while another thread changes the table. The answer is right for the caller's own requests, and for
  /// those that another thread has handed over to it.
  bool empty() const { return size() == 0; }

  PendingRequest* find(MPI_Request request) {
    if (empty()) return nullptr;
    const std::uint64_t key = key_of(request);
    for (std::size_t at = home(key);; at = next(at)) {
      if (entries_[at].key == key) return &entries_[at].value;
      if (entries_[at].key == 0) return nullptr;
    }
  }

  void insert(MPI_Request request, const PendingRequest& value) {
    if ((size() + 1) * 2 > entries_.size()) grow();
    PendingRequest numbered = value;
    numbered.number = ++inserted_;
    place(key_of(request), numbered);
  }

  /// The pending operation under the handle; an inactive persistent request completes at once, with nothing.
  PendingRequest pending(MPI_Request request) {
    const PendingRequest* found = find(request);
    return found != nullptr && (found->active || !found->persistent) ? *found : PendingRequest{};
  }

  /// Ends `known`, which was looked up before the call that completed it, but not a newer request with the same handle.
  void complete(MPI_Request request, const PendingRequest& known) {
    PendingRequest* found = find(request);
    if (found == nullptr || found->number != known.number) return;
    found->active = false;
    if (!known.persistent) erase(request);
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
      const std::size_t distance_home = (probe - home(entries_[probe].key)) & (entries_.size() - 1);
      const std::size_t distance_hole = (probe - hole) & (entries_.size() - 1);
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

  static std::uint64_t key_of(MPI_Request request) {
    std::uint64_t key = 0;
    std::memcpy(&key, &request, sizeof request);
    return key + 1;  // 0 is a valid handle, but as a key it means free
  }
  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }

  void place(std::uint64_t key, const PendingRequest& value) {
    std::size_t at = home(key);
    for (; entries_[at].key != 0 && entries_[at].key != key; at = next(at)) {
    }
    if (entries_[at].key == 0) set_size(size() + 1);
    entries_[at] = {key, value};
  }

  void grow() {
    std::vector<Entry> old(entries_.empty() ? 64 : entries_.size() * 2);
    old.swap(entries_);
    set_size(0);
    for (const Entry& entry : old) {
      if (entry.key != 0) place(entry.key, entry.value);
    }
  }

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  void set_size(std::size_t size) { size_.store(size, std::memory_order_relaxed); }

  std::atomic<std::size_t> size_{0};  // written by one thread at a time
  std::uint64_t inserted_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace halcyon
