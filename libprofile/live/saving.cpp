// What a live record does for the records of its ranks: when one ends, the others of the host save theirs, since some
// launchers kill them at once; and a record that somebody cuts short ends no rank.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "libprofile/live/place.hpp"
#include "libprofile/live/writer.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/process_facts.hpp"

namespace halcyon::live {
namespace {

void set(Shared<std::uint32_t>& word, Saving saving) { word.store(static_cast<std::uint32_t>(saving)); }

// The beginning of a slot, as a copy.
struct SlotNow {
  Owner owner{};
  alignas(64) std::uint64_t boundaries = 0;
  State state = State::ended;
  Saving saving = Saving::never;
};
static_assert(offsetof(SlotNow, state) == offsetof(Slot, state) && offsetof(SlotNow, saving) == offsetof(Slot, saving));

// The slots of all ranks. They are read from the file: a rank that dies since it gets no more memory can map nothing.
class WholeRecord {
 public:
  WholeRecord(const char* directory, const char* name) {
    const Descriptor place = open_silently(directory);
    if (place) file_ = Descriptor(direct::open_at(place.number(), name, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
    if (!file_ || !read(offsetof(Header, slots), &slots_, sizeof slots_)) slots_ = 0;
  }

  std::size_t slots() const { return slots_; }
  /// As of a rank that has ended, if the file is shorter.
  SlotNow slot(std::size_t number) const {
    SlotNow now;
    return read(offset_of_slot(number), &now, sizeof now) ? now : SlotNow{};
  }
  void ask_to_save(std::size_t number) const {
    Saving wanted = Saving::wanted;
    const iovec word{&wanted, sizeof wanted};
    direct::write_at(file_.number(), &word, 1, offset_of_slot(number) + offsetof(Slot, saving));
  }

 private:
  bool read(std::size_t at, void* data, std::size_t bytes) const {
    return direct::read_at(file_.number(), data, bytes, at) == static_cast<ssize_t>(bytes);
  }

  Descriptor file_;
  std::uint32_t slots_ = 0;
};

// Whether the rank can still answer.
bool can_answer(const SlotNow& slot) {
  if (slot.state == State::ended) return false;
  const std::optional<ProcessFacts> facts = facts_of(slot.owner.process);
  constexpr char stopped = 'T';
  return facts && !facts->has_ended() && facts->state != stopped && facts->start_time == slot.owner.start_time;
}

}  // namespace

void Writer::has_saved() {
  if (is_on()) set(slot_->saving, Saving::done);
}

void Writer::note_end() {
  if (is_on()) slot_->state.store(static_cast<std::uint32_t>(State::ended));
}

void Writer::have_others_save() const {
  if (!is_on()) return;
  const WholeRecord record(directory_.c_str(), name_.c_str());
  const Owner& own = slot_->owner;
  for (std::size_t i = 0; i < record.slots(); ++i) {
    const SlotNow other = record.slot(i);
    if (other.owner.process == own.process || other.saving != Saving::done || !can_answer(other)) continue;
    record.ask_to_save(i);
    syscall(SYS_kill, other.owner.process, save_request);
  }
  constexpr double most_seconds = 1.0;
  const double began = monotonic_seconds();
  for (std::size_t i = 0; i < record.slots(); ++i) {
    for (SlotNow other = record.slot(i);
         other.owner.process != own.process && other.saving == Saving::wanted && can_answer(other);
         other = record.slot(i)) {
      if (monotonic_seconds() - began > most_seconds) return;
      direct::sleep_a_millisecond();
    }
  }
}

bool Writer::has(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return is_on() && at >= reinterpret_cast<const std::byte*>(header_) &&
         at < reinterpret_cast<const std::byte*>(slot_) + slot_bytes;
}

void Writer::let_go() {
  const auto bytes =
      static_cast<std::size_t>(reinterpret_cast<std::byte*>(slot_) - reinterpret_cast<std::byte*>(header_)) +
      slot_bytes;
  syscall(SYS_mmap, header_, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

}  // namespace halcyon::live
