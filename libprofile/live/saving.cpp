// What a live record does for the records of its ranks: when one ends, the others of the host save theirs, since some
// launchers kill them at once; and a record that somebody cuts short ends no rank.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "libprofile/live/place.hpp"
#include "libprofile/live/writer.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/process_facts.hpp"

namespace halcyon::live {
namespace {

void set(Shared<std::uint32_t>& word, Saving saving) { word.store(static_cast<std::uint32_t>(saving)); }
bool is(const Shared<std::uint32_t>& word, Saving saving) { return word.load() == static_cast<std::uint32_t>(saving); }

// The whole record: the slots that this rank claimed no later than others, too.
class WholeRecord {
 public:
  WholeRecord(const char* directory, const char* name) {
    const Descriptor place = open_silently(directory);
    const Descriptor file(direct::open_at(place.number(), name, O_RDWR | O_NOFOLLOW | O_NONBLOCK));
    struct stat state {};
    if (!place || !file || direct::status(file.number(), state) != 0) return;
    const auto size = static_cast<std::size_t>(state.st_size);
    if (size < header_bytes) return;
    const long mapped = syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (mapped == -1) return;
    bytes_ = size;
    at_ = reinterpret_cast<std::byte*>(mapped);
    slots_ = std::min<std::size_t>(reinterpret_cast<Header*>(at_)->slots.load(), (size - header_bytes) / slot_bytes);
  }
  ~WholeRecord() {
    if (at_ != nullptr) syscall(SYS_munmap, at_, bytes_);
  }
  WholeRecord(const WholeRecord&) = delete;
  WholeRecord& operator=(const WholeRecord&) = delete;

  std::size_t slots() const { return slots_; }
  Slot& slot(std::size_t number) const { return *reinterpret_cast<Slot*>(at_ + offset_of_slot(number)); }

 private:
  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t slots_ = 0;
};

// Whether the rank can still answer.
bool can_answer(const Slot& slot) {
  if (slot.state.load() == static_cast<std::uint32_t>(State::ended)) return false;
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
    Slot& other = record.slot(i);
    if (other.owner.process == own.process || !is(other.saving, Saving::done) || !can_answer(other)) continue;
    set(other.saving, Saving::wanted);
    syscall(SYS_kill, other.owner.process, save_request);
  }
  constexpr double most_seconds = 1.0;
  const double began = monotonic_seconds();
  for (std::size_t i = 0; i < record.slots(); ++i) {
    const Slot& other = record.slot(i);
    while (other.owner.process != own.process && is(other.saving, Saving::wanted) && can_answer(other)) {
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
