// Steps that recur on a rank without a collective over all ranks. Counts how often each place calls MPI, and keeps rows
// that end at the few places whose calls recur. A rank cannot know during the run which of them the others have in
// common: MPI_Finalize chooses (reduce/agreed_steps.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "libprofile/format/features.hpp"
#include "libprofile/format/measures.hpp"
#include "libprofile/record/cpu_wait.hpp"
#include "libprofile/record/intm_interface.hpp"
#include "libprofile/record/store/segment_store.hpp"
#include "libprofile/record/threads.hpp"

namespace halcyon {

/// A place whose calls may end the steps of a rank.
struct StepEnds {
  const void* site = nullptr;  // or the line of a Python program
  std::uint32_t number = 0;    // of the place, as rows have it
  std::uint32_t calls = 0;     // from this place in the whole run
  std::uint32_t first = 0;     // the first that ended a row, from 1; after it all did whose number `every` divides
  std::uint32_t every = 1;     // a power of two
  /// A multiple of it, if any: of calls that are so many apart, few come soon after the one before. Else 0.
  std::uint32_t regular = 0;
  double time = 0.0;  // ticks, in calls that ended rows
};

/// The steps of one thread: of the one that has begun them. Rows take bounded memory: when it is full, each row covers
/// twice as many calls.
class Steps {
 public:
  /// Rows that are shorter on average cover twice as many calls; much longer ones may cover fewer again.
  static constexpr double least_nanoseconds = 100'000.0;
  static constexpr std::size_t most_rows = 8192;

  Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps() { forget(); }

  /// The calling thread, which has returned from MPI_Init, makes the calls from now on.
  void begin(ThreadState& thread, double ticks_per_nanosecond, Ticks now);
  /// Gives all memory back: there will be no steps. Called by the thread that makes the calls, or at the end.
  void forget();

  /// A call from `site` has returned. True if look() must follow: this is for every call.
  [[gnu::always_inline]] bool met(const void* site) {
    Place& place = places_[home_of(site)];
    return __builtin_expect(place.site != site || (++place.calls & place.mask) == 0, 0);
  }
  /// Whether the call, which took from `entry` to `exit`, ends a row: add_row() must follow.
  bool look(const void* site, Ticks entry, Ticks exit);
  /// `line_of(site)`: the line of a Python program that made the call, or the site. Asked once for each place.
  template <class LineOf>
  void add_row(ThreadState& thread, Ticks end, LineOf line_of) {
    Recurring& recurring = recurring_[ending_];
    if (recurring.line == nullptr) recurring.line = line_of(recurring.place->site);
    add_row(thread, end);
  }

  /// So long adding a row took.
  void note_cost(Ticks cost) {
    if (cost_.count == 0 || cost_ > cost) cost_ = cost;
  }
  /// The smallest time that it took.
  Ticks cost() const { return cost_; }

  /// The thread has waited in a boundary. This time is in none of its other kinds.
  void waited(Ticks time) { waited_ += time; }

  /// The program ends: the last row does.
  void end(ThreadState& thread, Ticks now);

  /// The places whose calls recur in a fair part of the run.
  std::vector<StepEnds> ends() const;
  /// How many rows there are: no fewer than steps.
  std::size_t rows() const { return rows_; }
  /// Visits the steps in order, without their call sites. A step ends at each call whose number `every` divides, from
  /// `first` to `last`; the last step ends with the program.
  void for_each_step(std::uint32_t number, std::uint32_t first, std::uint32_t last, std::uint32_t every,
                     const std::function<void(const SegmentRow&, bool is_last)>& visit) const;

 private:
  // Where calls come from.
  struct Place {
    const void* site = nullptr;
    std::uint32_t calls = 0;
    std::uint32_t mask = 0;  // look again when none of these bits is set in `calls`
    Ticks first;             // when the first call returned
    std::uint32_t recurring = nowhere;
  };
  // A place whose calls end rows.
  struct Recurring {
    Place* place = nullptr;
    const void* line = nullptr;
    std::uint32_t first = 0;
    std::uint32_t every = 1;
    bool ends_rows = false;
    bool is_thinned = false;      // there was no room for more rows
    std::uint32_t in_window = 0;  // rows, since their length was last looked at
    Ticks window;                 // when that was
    Ticks last;                   // when the last row ended
    Ticks time;                   // in calls that ended rows
  };
  struct Row {
    Measured<float> measured{};
    std::array<float, feature_count> features{};
    std::uint32_t recurring = 0;
    std::uint32_t call = 0;

    void add(const Row& other);
  };
  struct Sums {
    ThreadState::AtBoundary times;
    std::array<std::uint64_t, feature_count> counts{};
    std::uint64_t injected_requested = 0;
    std::uint64_t injected_actual = 0;
  };

  static constexpr std::uint32_t nowhere = ~0u;
  static constexpr unsigned places_as_power = 8;
  static constexpr std::uint32_t first_look = 8;    // calls: fewer do not recur
  static constexpr std::size_t most_at_a_time = 4;  // places whose calls end rows
  static constexpr std::size_t most_recurring = 64;

  static std::size_t home_of(const void* site) {
    return reinterpret_cast<std::uintptr_t>(site) * 0x9e3779b97f4a7c15u >> (64 - places_as_power);
  }
  Place* find(const void* site, Ticks now);
  bool begins_to_end_rows(Place& place, Ticks now);
  bool make_room_for_one_more(const Place& place, Ticks now);
  bool is_stale(const Recurring& other, Ticks now) const;
  void note_row(Recurring& recurring, Ticks entry, Ticks exit);
  static void widen(Recurring& recurring);
  void narrow(Recurring& recurring, Ticks row);
  void add_row(ThreadState& thread, Ticks end);
  void thin();
  bool is_kept(const Row& row) const;
  Sums sums(ThreadState& thread, Ticks now) const;
  Row row_until(ThreadState& thread, Ticks now);
  std::uint32_t regular_every(std::uint32_t number) const;

  std::array<Place, std::size_t{1} << places_as_power> places_{};
  std::array<Recurring, most_recurring> recurring_{};
  std::uint32_t recurring_count_ = 0;
  std::uint32_t ending_ = 0;  // the one whose call ends a row
  Row* log_ = nullptr;        // most_rows of them, once the first row is added
  std::size_t rows_ = 0;
  Row carried_;  // belongs to the next row
  Row rest_;     // from the last row to the end of the program
  Sums last_;
  Ticks began_;
  Ticks waited_;
  Ticks least_;
  Ticks cost_;
  CpuWait cpu_wait_;
  CpuWaitOfThread cpu_wait_of_thread_;
  InjectedTotals injected_totals_ = nullptr;
};

}  // namespace halcyon
