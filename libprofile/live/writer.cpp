#include "libprofile/live/writer.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>

#include "libprofile/interpose/signal_blocked.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/process_facts.hpp"

namespace halcyon::live {
namespace {

// A regulator renews its promise more often. One that promises more may have crashed while it wrote, or mean harm.
constexpr std::uint64_t longest_lease = 10'000'000'000;  // ns

template <std::size_t N>
void put_text(std::array<char, N>& into, const std::string& text) {
  std::memcpy(into.data(), text.data(), std::min(text.size(), N - 1));  // the rest is zero
}

// Gives the file memory for these bytes. Without it, a store could end the program by SIGBUS when memory runs out.
bool make_room(const Descriptor& file, std::size_t offset, std::size_t bytes) {
  const SignalBlocked no_death_by_quota(SIGXFSZ);
  return posix_fallocate(file.number(), static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

Header* map(const Descriptor& file, std::size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<Header*>(mapped);
}

void fill(Header& header, const Introduction& who) {
  header.header_bytes = header_bytes;
  header.slot_bytes = slot_bytes;
  header.ranks = static_cast<std::uint32_t>(who.ranks);
  header.user = geteuid();
  header.launcher = getppid();
  header.start_time = nanoseconds_of(CLOCK_REALTIME);
  header.start_monotonic = nanoseconds_of(CLOCK_MONOTONIC);
  put_text(header.job, who.job);
  put_text(header.command, who.command);
  gethostname(header.host.data(), header.host.size() - 1);
  header.magic = magic;
  header.version = layout_version;
}

long futex(Shared<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

void Writer::join(const Introduction& who, const std::string& root) {
  directory_ = directory_of_records(root);
  name_ = who.record;
  const Outcome<Descriptor> directory = open_directory(directory_, true);
  if (!directory) return;
  const DirectoryLock lock(directory->number());
  if (!lock.is_held() || !enter(*directory, who)) return;
  nanoseconds_per_tick_ = who.nanoseconds_per_tick;
  work_is_time_ = who.work_is_time;
  short_ticks_ = 1e9 * short_seconds / nanoseconds_per_tick_;
  kinds_ = std::make_unique<Kinds>(slot_->kinds);
}

bool Writer::enter(const Descriptor& directory, const Introduction& who) {
  Descriptor file;
  if (create_or_open(directory, file, who) && claim_slot(file, who)) return true;
  file = Descriptor();
  remove_if_dead(directory, name_);  // if it was created in vain
  return false;
}

bool Writer::create_or_open(const Descriptor& directory, Descriptor& file, const Introduction& who) {
  remove_if_dead(directory, name_);  // a job of the same name was killed
  if (Outcome<Descriptor> known = open_record(directory, name_, O_RDWR)) {
    file = std::move(*known);
    return true;
  }
  for (const std::string& name : names_in(directory_)) remove_if_dead(directory, name);
  Outcome<Descriptor> made = open_record(directory, name_, O_RDWR | O_CREAT | O_EXCL);
  if (!made) return false;
  file = std::move(*made);
  Header* const header = make_room(file, 0, header_bytes) ? map(file, header_bytes) : nullptr;
  if (header == nullptr) {
    unlinkat(directory.number(), name_.c_str(), 0);
    return false;
  }
  fill(*header, who);
  munmap(header, header_bytes);
  return true;
}

bool Writer::claim_slot(const Descriptor& file, const Introduction& who) {
  struct stat state {};
  if (fstat(file.number(), &state) != 0 || state.st_size < static_cast<off_t>(header_bytes)) return false;
  inode_ = state.st_ino;
  Header* header = map(file, header_bytes);
  if (header == nullptr) return false;
  const std::uint32_t number = header->slots.load();
  const auto ranks = static_cast<std::uint32_t>(who.ranks);
  const bool is_this_job = header->magic == magic && header->version == layout_version &&
                           header->slot_bytes == slot_bytes && header->ranks == ranks && header->user == geteuid();
  munmap(header, header_bytes);
  // Without a start time (no /proc), readers would take this rank for dead.
  const std::optional<ProcessFacts> own = facts_of(getpid());
  if (!is_this_job || number >= std::min(ranks, most_slots) || !own) return false;
  const std::size_t offset = offset_of_slot(number);
  if (!make_room(file, offset, slot_bytes)) return false;
  header = map(file, offset + slot_bytes);
  if (header == nullptr) return false;
  madvise(header, offset + slot_bytes, MADV_DONTFORK);
  slot_ = reinterpret_cast<Slot*>(reinterpret_cast<std::byte*>(header) + offset);
  slot_->owner = {getpid(), static_cast<std::uint32_t>(who.rank), own->start_time};
  header->ranks_here.fetch_add(1);
  header->slots.store(number + 1, std::memory_order_release);
  header_ = header;
  return true;
}

void Writer::note_place(std::size_t place, const std::string& text) {
  if (place + 1 < most_places) put_text(slot_->places[place], text);
  places_ = place + 1;
}

// One of each eight in a row, so that the weights add up to the number of segments.
void Writer::skip_some() {
  random_ = random_ * 1664525u + 1013904223u;
  const std::uint32_t next = random_ >> 29;
  static_assert(sampled_one_in == 1u << (32 - 29));
  skipped_ = sampled_one_in - 1 - place_in_eight_ + next;
  place_in_eight_ = next;
}

// Behind computation, the parts are the kinds of time.
static_assert(part_of_time_count == 1 + time_kind_count);

void Writer::sort(const Measured<double>& ticks, const std::array<double, feature_count>& features, std::size_t place,
                  std::uint32_t weight) {
  const auto time_of = [&](Measure measure) { return nanoseconds_per_tick_ * ticks[index_of(measure)]; };
  EndedSegment segment{.place = static_cast<std::uint32_t>(std::min(place, most_places - 1)),
                       .weight = weight,
                       .duration = time_of(Measure::duration)};
  double& computation = segment.parts[index_of(PartOfTime::computation)];
  computation = segment.duration;
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    segment.parts[1 + kind] = time_of(measure_of(static_cast<TimeKind>(kind)));
    computation -= segment.parts[1 + kind];
  }
  kinds_->add(segment, features);
}

void Writer::publish(const UpToNow& now) {
  const std::uint64_t number = slot_->newest.load(std::memory_order_relaxed) + 1;
  // The totals of the time before last are overwritten only after readers can see those of the last time.
  std::atomic_thread_fence(std::memory_order_release);
  Totals& totals = slot_->totals[number % 2];
  kinds_->publish(totals);
  const auto volume = [&now](Feature feature) { return (*now.counted)[index_of(feature)]; };
  const auto seconds_of = [this](const auto& ticks, Measure measure) {
    return 1e-9 * nanoseconds_per_tick_ * ticks[index_of(measure)];
  };
  totals.segments = passed();
  totals.seconds = seconds_of(sums_, Measure::duration);
  double& computation = totals.parts[index_of(PartOfTime::computation)];
  computation = totals.seconds;
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    totals.parts[1 + kind] = seconds_of(sums_, measure_of(static_cast<TimeKind>(kind)));
    computation -= totals.parts[1 + kind];
  }
  computation = std::max(0.0, computation);
  totals.last_end = now.last_end;
  totals.last_wait = seconds_of(now.last, Measure::boundary);
  totals.suspended_seconds = now.suspended_seconds;
  totals.suspensions = now.suspensions;
  totals.message_bytes = volume(Feature::bytes_sent) + volume(Feature::bytes_received) +
                         volume(Feature::bytes_collective) + volume(Feature::rma_bytes);
  totals.file_bytes = volume(Feature::bytes_read) + volume(Feature::bytes_written);
  totals.work = work_;
  totals.work_is_time = work_is_time_ ? 1 : 0;
  totals.last_place = static_cast<std::uint32_t>(std::min(now.last_place, most_places - 1));
  slot_->newest.store(number, std::memory_order_release);
}

bool Writer::stand_still() {
  Control& control = header_->control;
  const std::uint64_t began = nanoseconds_of(CLOCK_MONOTONIC);
  std::uint64_t now = began;
  std::uint64_t lease_seen = began;  // when `until` was last seen to change
  std::uint64_t until = control.until.load();
  while (true) {
    const std::uint32_t wakes = control.wakes.load();
    const std::uint64_t stop_at = control.stop_at.load();
    if (const std::uint64_t renewed = control.until.load(); renewed != until) {
      until = renewed;
      lease_seen = now;
    }
    if (stop_at - 1 >= passed()) break;
    const std::uint64_t end = std::min(until, lease_seen + longest_lease);
    if (now >= end) {
      // The regulator has not renewed its promise. It is taken back for all, so that no boundary looks at the clock.
      std::uint64_t expected = stop_at;
      control.stop_at.compare_exchange_strong(expected, 0);
      control.wakes.fetch_add(1);
      futex(control.wakes, FUTEX_WAKE, INT_MAX, nullptr);
      break;
    }
    slot_->state.store(static_cast<std::uint32_t>(State::suspended), std::memory_order_relaxed);
    const std::uint64_t left = end - now;
    const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
    futex(control.wakes, FUTEX_WAIT, wakes, &timeout);
    now = nanoseconds_of(CLOCK_MONOTONIC);
  }
  const bool has_waited = now != began;
  if (has_waited) slot_->state.store(static_cast<std::uint32_t>(State::running), std::memory_order_relaxed);
  return has_waited;
}

// Other threads may still look at the record: it stays mapped.
void Writer::leave() {
  if (!is_on() || has_left_.exchange(true)) return;
  note_end();
  // Without the lock, the file is left to the next reader.
  const Descriptor directory = open_silently(directory_.c_str());
  if (!directory) return;
  const DirectoryLock lock(directory.number());
  if (!lock.is_held() || header_->ranks_here.fetch_sub(1) != 1) return;
  struct stat state {};
  const bool is_ours =
      fstatat(directory.number(), name_.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0 && state.st_ino == inode_;
  if (is_ours) unlinkat(directory.number(), name_.c_str(), 0);
}

}  // namespace halcyon::live
