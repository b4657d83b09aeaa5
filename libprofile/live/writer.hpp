// The live record of this rank: joins the file of its job, publishes, and stands still while a regulator asks for it.
// If shared memory is missing, full or belongs to another user, there is no live record; the program is not ended or
// delayed.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "libprofile/format/features.hpp"
#include "libprofile/format/measures.hpp"
#include "libprofile/live/kinds.hpp"
#include "libprofile/live/layout.hpp"
#include "libprofile/live/place.hpp"

namespace halcyon::live {

/// By default it does nothing, so it harms nobody if it goes astray.
inline constexpr int save_request = SIGURG;

/// What a rank says about itself and its job.
struct Introduction {
  std::string record;  // name of the job's file, the same on all ranks
  std::string job;     // the launcher's name for it
  std::string command;
  double nanoseconds_per_tick = 1.0;
  bool work_is_time = true;  // CPU time, not events of a hardware counter
  int rank = 0;
  int ranks = 1;
};

/// What the recorder knows of the whole run when it publishes.
struct UpToNow {
  std::uint64_t last_end = 0;  // of the last segment: CLOCK_MONOTONIC, ns
  Measured<double> last;       // measures of that segment, in ticks
  double suspended_seconds = 0.0;
  std::uint64_t suspensions = 0;
  std::size_t last_place = 0;
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
  void join(const Introduction& who, const std::string& root = shared_memory());
  bool is_on() const { return slot_ != nullptr; }

  /// A segment has ended. Its measures are in ticks. The text of its place is needed when it is new; places are
  /// numbered from 0 in the order of their first use.
  [[gnu::always_inline]] void add(const Measured<double>& ticks, const std::array<double, feature_count>& features,
                                  std::size_t place, const std::string& place_text) {
    slot_->boundaries.store(passed() + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < sum_count; ++i) sums_[i] += ticks[i];
    work_ += features[index_of(Feature::compute)];
    if (__builtin_expect(place >= places_, 0)) note_place(place, place_text);
    std::uint32_t weight = 1;
    if (ticks[index_of(Measure::duration)] < short_ticks_) {
      if (skipped_ > 0) {
        --skipped_;
        return;
      }
      skip_some();
      weight = sampled_one_in;
    }
    sort(ticks, features, place, weight);
  }
  /// Shows readers everything since the last call.
  void publish(const UpToNow& now);

  /// Whether a regulator wants this rank to stop after the boundary that it has just passed.
  [[gnu::always_inline]] bool is_asked_to_stop() const {
    if (header_ == nullptr) return false;
    const std::uint64_t stop_at = header_->control.stop_at.load(std::memory_order_relaxed);
    return __builtin_expect(stop_at - 1 < passed(), 0);  // 0 - 1 is more than any number of boundaries
  }
  /// Waits as long as the regulator asks for, but not beyond the time of its request. Signal handlers run meanwhile.
  /// False if there was nothing to wait for.
  bool stand_still();

  /// This rank has saved its records at a save_request, or has none yet: from now on it answers one. Async-signal-safe.
  void has_saved();
  /// This rank has saved its records, and is about to end. Async-signal-safe.
  void note_end();
  /// Has the other ranks on this host save their records, and waits for them, for a second at most. Async-signal-safe.
  void have_others_save() const;

  /// Whether an address is in the record. Async-signal-safe.
  bool has(const void* address) const;
  /// Puts memory of this process alone in the place of the record, whose file somebody has cut short: the rank goes on,
  /// and readers no longer see it. Async-signal-safe.
  void let_go();

  /// The rank has ended, or is about to: the last one on the host removes the file. Async-signal-safe.
  void leave();
  /// It has left, and has not ended after all.
  void go_on() {
    if (!is_on()) return;
    slot_->state.store(static_cast<std::uint32_t>(State::running));
    if (has_left_.exchange(false)) header_->ranks_here.fetch_add(1);
  }
  bool has_left() const { return has_left_.load(); }
  /// In a child of fork: it is not in the record and does not have it in its memory.
  void forget() {
    header_ = nullptr;
    slot_ = nullptr;
  }

 private:
  // After the times come the measures of intM.
  static constexpr std::size_t sum_count = index_of(Measure::device) + 1;
  // Of segments shorter than this, one in eight, chosen at random, is sorted by kind, and counts eight times. So the
  // cost of sorting, 20 to 150 ns, is at most 1.5 thousandths of a long segment, and a few ns for a short one.
  static constexpr double short_seconds = 100e-6;
  static constexpr std::uint32_t sampled_one_in = 8;

  std::uint64_t passed() const { return slot_->boundaries.load(std::memory_order_relaxed); }
  bool enter(const Descriptor& directory, const Introduction& who);
  bool create_or_open(const Descriptor& directory, Descriptor& file, const Introduction& who);
  bool claim_slot(const Descriptor& file, const Introduction& who);
  void note_place(std::size_t place, const std::string& text);
  void skip_some();
  void sort(const Measured<double>& ticks, const std::array<double, feature_count>& features, std::size_t place,
            std::uint32_t weight);

  Header* header_ = nullptr;  // mapped until the process ends, up to the end of the slot
  Slot* slot_ = nullptr;
  std::unique_ptr<Kinds> kinds_;
  std::array<double, sum_count> sums_{};  // of the measures of all segments, in ticks
  double work_ = 0.0;                     // of all segments
  double nanoseconds_per_tick_ = 1.0;
  bool work_is_time_ = true;
  double short_ticks_ = 0.0;
  std::uint32_t skipped_ = 0;         // short segments that are not sorted, before the next that is
  std::uint32_t place_in_eight_ = 0;  // of the last short segment that was sorted
  std::uint32_t random_ = 1;
  std::size_t places_ = 0;  // whose texts are in the slot
  std::string directory_;
  std::string name_;
  ino_t inode_ = 0;
  std::atomic<bool> has_left_{false};
};

}  // namespace halcyon::live
