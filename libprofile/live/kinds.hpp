// Sorts the segments of a rank by kind when they end, and knows the usual time of each kind. A segment costs a few
// nanoseconds, for any number of kinds.
#pragma once

#include <array>
#include <cstdint>

#include "libprofile/format/features.hpp"
#include "libprofile/live/layout.hpp"

namespace halcyon::live {

/// A segment that has ended. Times in ns.
struct EndedSegment {
  std::uint32_t place = 0;   // below most_places
  std::uint32_t weight = 1;  // the number of segments that it stands for
  double duration = 0.0;
  std::array<double, part_of_time_count> parts{};  // they add up to the duration
};

/// The bins of the kinds are in shared memory, and counted there; their sums are kept here until publish() writes them.
class Kinds {
 public:
  /// `shared`: all zero.
  explicit Kinds(std::array<Kind, most_kinds>& shared) : shared_(shared) {}

  void add(const EndedSegment& segment, const std::array<double, feature_count>& features);

  /// Writes the sums. Also sets the usual seconds and those beyond of all kinds in `totals`.
  void publish(Totals& totals);

 private:
  struct Sums {
    std::uint64_t key = 0;
    std::uint64_t segments = 0;
    std::uint64_t published = 0;  // segments whose usual time is in usual_seconds_
    double duration = 0.0;        // ns
    double squared_duration = 0.0;
    // The usual duration is the lower quartile so far. It is undisturbed unless three quarters of all segments are
    // disturbed, and near the middle of the undisturbed ones. Only its bin is known.
    std::uint64_t counted = 0;          // segments in the bins, and below and above them
    std::uint32_t first_bin = 0;        // as in the record
    std::uint32_t usual_bin = 0;        // index into the bins
    std::uint64_t below_usual_bin = 0;  // segments in all lower bins
    double in_usual_bin = 0.0;          // sum of durations, ns, since the quartile came to that bin
    std::uint64_t counted_in_usual_bin = 0;
    std::uint32_t unrefreshed = 0;                         // segments since `usual` and `noticeable` were updated
    double usual = 0.0;                                    // ns
    double noticeable = 0.0;                               // a longer segment took noticeably more than the usual, ns
    std::array<double, part_of_time_count> usual_parts{};  // sums over all others, ns
    std::uint64_t slow = 0;
  };
  struct LastAtPlace {
    std::array<double, feature_count - 1> features{};  // all but the work
    std::uint64_t size_of_work = 0;
    std::uint32_t kind = most_kinds;  // none yet
  };

  std::uint32_t kind_of(std::uint32_t place, const std::array<double, feature_count>& features);
  std::uint32_t find(std::uint64_t key);
  std::uint32_t make_way(std::uint64_t key);
  void add_to_rest(const Sums& sums);
  static void begin(Kind& kind, Sums& sums, double duration, std::uint32_t place);
  static void count(Kind& kind, Sums& sums, double duration, std::uint32_t weight);
  static std::uint32_t count_outside(Kind& kind, Sums& sums, double duration, std::uint32_t weight);
  static void move_bins(Kind& kind, Sums& sums, std::uint32_t first_bin);
  static void follow_quartile(const Kind& kind, Sums& sums);
  void note_slow(Sums& sums, const EndedSegment& segment);

  std::array<Kind, most_kinds>& shared_;
  std::array<Sums, most_kinds> sums_{};
  std::array<LastAtPlace, most_places> last_{};
  double usual_seconds_ = 0.0;
  std::array<double, part_of_time_count> beyond_{};  // ns
};

}  // namespace halcyon::live
