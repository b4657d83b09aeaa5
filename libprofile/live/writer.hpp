// The live record of this rank: joins the file of its job, publishes, and stands still while a regulator asks for it.
// Nothing here ends or delays the program if shared memory is missing, full or not this user's: there is no live record
// then.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "libprofile/format/features.hpp"
#include "libprofile/live/kinds.hpp"
#include "libprofile/live/layout.hpp"
#include "libprofile/live/place.hpp"

namespace halcyon::live {

/// What a rank says of itself and its job.
struct Introduction {
  std::string record;  // name of the job's file, the same on all ranks
  std::string job;     // the launcher's name for it
  std::string command;
  int rank = 0;
  int ranks = 1;
};

/// What the recorder knows of the whole run when it publishes.
struct UpToNow {
  std::uint64_t last_end = 0;  // of the last segment: CLOCK_MONOTONIC, ns
  double last_wait = 0.0;      // s
  double suspended_seconds = 0.0;
  std::uint64_t suspensions = 0;
  std::uint32_t last_place = 0;
  const std::array<std::uint64_t, feature_count>* counted = nullptr;
};

class Writer {
 public:
  Writer() = default;
  ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Joins the record of the job on this host; the first rank creates it, and removes those of jobs that were killed.
  /// Without success, is_on() stays false. Throws if memory runs out.
  void join(const Introduction& who, const std::string& root = shared_memory);
  bool is_on() const { return slot_ != nullptr; }

  /// A segment has ended. The text of a place is needed when it is new.
  void add(const EndedSegment& segment, const std::array<double, feature_count>& features, const std::string& place) {
    if (__builtin_expect(segment.place >= places_, 0)) note_places(segment.place, place);
    slot_->boundaries.store(passed() + 1, std::memory_order_relaxed);
    kinds_->add(segment, features);
  }
  /// Shows all since the last time to readers.
  void publish(const UpToNow& now);

  /// Whether a regulator wants this rank to stop after the boundary that it has just passed.
  [[gnu::always_inline]] bool is_asked_to_stop() const {
    if (header_ == nullptr) return false;
    const std::uint64_t stop_at = header_->control.stop_at.load(std::memory_order_relaxed);
    return __builtin_expect(stop_at - 1 < passed(), 0);  // 0 - 1 is more than any number of boundaries
  }
  /// Waits as long as it is asked to, but no longer than the regulator has promised for. Handlers of signals run
  /// meanwhile. False if there was nothing to wait for.
  bool stand_still();

  /// The rank has ended, or is about to: the last one on the host removes the file. Async-signal-safe.
  void leave();
  /// In a child of fork, which has no part in the record and does not have it in its memory.
  void forget() {
    header_ = nullptr;
    slot_ = nullptr;
  }

 private:
  std::uint64_t passed() const { return slot_->boundaries.load(std::memory_order_relaxed); }
  bool create_or_open(const Descriptor& directory, const Introduction& who, Descriptor& file);
  bool claim_slot(const Descriptor& file, const Introduction& who);
  void note_places(std::uint32_t place, const std::string& text);

  Header* header_ = nullptr;  // mapped until the process ends
  Slot* slot_ = nullptr;
  std::unique_ptr<Kinds> kinds_;
  std::uint32_t places_ = 0;  // whose texts are in the slot
  std::string directory_;
  std::string name_;
  ino_t inode_ = 0;
  std::atomic<bool> has_left_{false};
};

}  // namespace halcyon::live
