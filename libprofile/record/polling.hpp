// The time of polls that find nothing (MPI_Test, MPI_Iprobe). A program may poll between any two steps of its work, and
// a poll takes little longer than two readings of the clock. So only some polls are timed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "libprofile/shared/clock.hpp"

namespace halcyon {

/// The polls of one thread. Those that are not timed take the usual time of those that are.
class Polling {
 public:
  /// Whether to time the poll that is about to begin.
  bool is_timed() const { return left_ == 0; }

  /// A poll has found nothing. If is_timed() was true before it, timed() must be called first.
  void found_nothing() { --left_; }

  /// A poll that has found nothing took this long, and the counter counted `events` meanwhile.
  void timed(Ticks took, std::uint64_t events) {
    time_.learn(static_cast<double>(took.count));
    events_.learn(static_cast<double>(events));
    count_untimed();
    left_ = polls_between_timed;
    counted_ = left_;
  }

  bool is_unsettled() const { return left_ != counted_; }

  struct Sums {
    double time = 0.0;  // ticks
    double events = 0.0;
  };
  /// The sums of the polls that have found nothing since it was last called.
  Sums settle() {
    count_untimed();
    const Sums sums = unsettled_;
    unsettled_ = {};
    return sums;
  }

  /// The usual time of a poll.
  Ticks usual() const { return {static_cast<std::uint64_t>(time_.usual())}; }

 private:
  // A delay that hits a poll belongs to no other poll, and must not be multiplied.
  class Usual {
   public:
    void learn(double value) {
      constexpr double most = 4.0;  // times the usual
      constexpr double weight = 0.125;
      const bool is_less_by_far = 2.0 * value < usual_;
      usual_ = usual_ == 0.0 || is_less_by_far ? value : usual_ + weight * (std::min(value, most * usual_) - usual_);
    }
    double usual() const { return usual_; }

   private:
    double usual_ = 0.0;
  };

  void count_untimed() {
    const double polls = counted_ - left_;
    unsettled_.time += polls * time_.usual();
    unsettled_.events += polls * events_.usual();
    counted_ = left_;
  }

  // A prime: MPI does more in every eighth poll, or in every sixteenth.
  static constexpr std::uint32_t polls_between_timed = 61;

  std::uint32_t left_ = 0;     // until the next one is timed
  std::uint32_t counted_ = 0;  // of left_, at the last count
  Sums unsettled_;
  Usual time_;
  Usual events_;
};

}  // namespace halcyon
