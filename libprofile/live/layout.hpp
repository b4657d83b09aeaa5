// The bytes of a live record: a file in shared memory that the ranks of a job on this host write while they run, and
// that `halcyon watch` reads. docs/live.md has it as a table.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace halcyon::live {

inline constexpr std::array<char, 8> magic{'H', 'L', 'C', 'L', 'I', 'V', 'E', '\0'};
/// Goes up with each change of this file's structs.
inline constexpr std::uint32_t layout_version = 3;

/// A word that one process writes while others read it.
template <class T>
using Shared = std::atomic<T>;
static_assert(Shared<std::uint64_t>::is_always_lock_free && Shared<double>::is_always_lock_free &&
              Shared<std::uint32_t>::is_always_lock_free);

inline constexpr std::size_t most_text = 64;  // with its NUL
inline constexpr std::size_t most_command = 1024;
inline constexpr std::size_t most_place_text = 128;
/// More ranks of a job on one host have no slot.
inline constexpr std::uint32_t most_slots = 16384;

/// Written by a regulator, read by the ranks at the end of each boundary. All zero: no request.
struct alignas(64) Control {
  Shared<std::uint64_t> stop_at;  // ranks stop when they have passed this number of boundaries; 0: they do not stop
  Shared<std::uint64_t> until;    // and go on at this time: CLOCK_MONOTONIC, ns
  Shared<std::uint32_t> wakes;    // a futex; the regulator increments it and wakes the ranks when it changes the others
};

/// The beginning of the file. Complete before any slot is claimed.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t slot_bytes;
  std::uint32_t ranks;              // of the whole job, on all hosts
  std::uint32_t user;               // uid
  std::int32_t launcher;            // process that started the rank which created the record
  std::uint64_t start_time;         // when the record was created: CLOCK_REALTIME, ns
  std::uint64_t start_monotonic;    // the same by CLOCK_MONOTONIC
  std::array<char, most_text> job;  // the launcher's name for it; may be empty
  std::array<char, most_text> host;
  std::array<char, most_command> command;  // cut
  Shared<std::uint32_t> slots;             // claimed so far; the first of them are whole
  Shared<std::uint32_t> ranks_here;        // attached and not yet gone; too many if ranks have died
  Control control;
};
inline constexpr std::size_t header_bytes = 4096;
static_assert(sizeof(Header) <= header_bytes && std::is_standard_layout_v<Header>);
static_assert(offsetof(Header, start_time) == 32 && offsetof(Header, job) == 48 && offsetof(Header, command) == 176 &&
              offsetof(Header, slots) == 1200 && offsetof(Header, control) == 1216);
static_assert(offsetof(Control, until) == 8 && offsetof(Control, wakes) == 16);

enum class State : std::uint32_t { running, suspended, ended };

/// A rank that is about to end has the others of its host save their records: it sets `wanted` and sends them SIGURG,
/// to which they answer with `done`.
enum class Saving : std::uint32_t { never, done, wanted };

/// The parts of a segment's time on a rank; they add up to its duration.
enum class PartOfTime : std::uint8_t { computation, point_to_point, collective, boundary, file_io, device };
constexpr std::size_t index_of(PartOfTime part) { return static_cast<std::size_t>(part); }
inline constexpr std::size_t part_of_time_count = index_of(PartOfTime::device) + 1;

/// Sums since the run began, in seconds and bytes, up to the end of a segment.
struct Totals {
  std::uint64_t segments;
  std::uint64_t last_end;                        // of the last segment: CLOCK_MONOTONIC, ns
  double seconds;                                // of all segments
  double usual_seconds;                          // sum of the usual time of each segment's kind
  std::array<double, part_of_time_count> parts;  // seconds
  std::array<double, part_of_time_count>
      beyond;        // of them, seconds beyond the usual in segments that took noticeably longer
  double last_wait;  // in the last boundary
  double suspended_seconds;
  std::uint64_t suspensions;
  std::uint64_t message_bytes;  // sent, received, handed to collectives, one-sided
  std::uint64_t file_bytes;
  double work;                 // the compute feature, in units of its counter
  std::uint32_t last_place;    // where the last segment ended: index into places
  std::uint32_t work_is_time;  // 1: `work` is CPU time, 0: it is events of a hardware counter
};
static_assert(sizeof(Totals) == 184 && std::is_trivially_copyable_v<Totals>);

/// Bins of durations: 32 in each octave, all of equal width, so that the width is 1.6 to 3.1 % of the duration. A bin's
/// number is the upper bits of the duration in nanoseconds as a double, so it is the same in every record.
inline constexpr unsigned bins_per_octave = 32;
inline constexpr unsigned bin_shift = 52 - 5;
constexpr std::uint32_t bin_of(double nanoseconds) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(nanoseconds) >> bin_shift);
}
/// Its lower end, ns. The upper end is that of the next bin.
constexpr double lower_end_of(std::uint32_t bin) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(bin) << bin_shift);
}
static_assert(bin_of(1024.0) == bin_of(1055.9) && bin_of(1056.0) == bin_of(1024.0) + 1 &&
              bin_of(2048.0) == bin_of(1024.0) + bins_per_octave && lower_end_of(bin_of(1060.0)) == 1056.0);

inline constexpr std::size_t bin_count = 8 * bins_per_octave;
/// The first duration of a kind lies in this bin. The first time is often a slow one.
inline constexpr std::uint32_t bins_below_first = 5 * bins_per_octave;

/// Segments that ended at the same place after the same numbers of calls and about the same volumes. Each word is
/// written when a segment ends, so the words of one kind may differ by that segment while it is read.
struct alignas(64) Kind {
  Shared<std::uint64_t> key;  // a hash of what they share; 0: no such kind yet
  Shared<std::uint32_t> place;
  Shared<std::uint32_t> first_bin;  // the number of the first of `bins`
  Shared<std::uint64_t> segments;
  Shared<double> seconds;
  Shared<double> squared_seconds;  // sum of squares, s²
  Shared<double> usual_seconds;    // of one segment, as estimated so far
  Shared<std::uint64_t> below;     // segments shorter than the first bin
  Shared<double> below_seconds;
  Shared<std::uint64_t> above;  // segments longer than the last bin
  Shared<double> above_seconds;
  std::array<Shared<std::uint32_t>, bin_count> bins;
};
static_assert(offsetof(Kind, bins) == 80);

inline constexpr std::size_t most_kinds = 32;   // further ones share the last
inline constexpr std::size_t most_places = 32;  // further ones share the last, whose text is empty

/// The rank that a slot belongs to. Written when it is claimed.
struct Owner {
  std::int32_t process;
  std::uint32_t rank;        // in the whole job
  std::uint64_t start_time;  // of the process, as in /proc/PID/stat; differs for a later process with this number
};

/// One rank.
struct Slot {
  Owner owner;

  // Written at each boundary, or rarely.
  alignas(64) Shared<std::uint64_t> boundaries;  // passed
  Shared<std::uint32_t> state;                   // a State
  Shared<std::uint32_t> saving;                  // a Saving; `never`: this rank does not answer

  // The totals are written at most every 100 ms, to two places in turn: totals[newest % 2] is whole, and does not
  // change before `newest` has.
  alignas(64) Shared<std::uint64_t> newest;
  alignas(64) std::array<Totals, 2> totals;

  // boundary@module+offset, as in the profile; complete before a number of it is used
  alignas(64) std::array<std::array<char, most_place_text>, most_places> places;
  std::array<Kind, most_kinds> kinds;
};
inline constexpr std::size_t page = 4096;
inline constexpr std::size_t slot_bytes = (sizeof(Slot) + page - 1) / page * page;
static_assert(std::is_standard_layout_v<Slot> && offsetof(Slot, boundaries) == 64 && offsetof(Slot, newest) == 128 &&
              offsetof(Slot, totals) == 192 && offsetof(Slot, places) == 576 && offsetof(Slot, kinds) == 4672 &&
              sizeof(Kind) == 1152 && slot_bytes == 45056);

inline constexpr std::size_t offset_of_slot(std::size_t slot) { return header_bytes + slot * slot_bytes; }

}  // namespace halcyon::live
