#include "libprofile/live/suspender.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "libprofile/live/place.hpp"
#include "libprofile/live/reader.hpp"

namespace halcyon::live {

Outcome<Suspender> Suspender::open(const std::string& path) {
  const Outcome<Reader> reader = Reader::open(path);
  if (!reader) return reader.failure();
  const Outcome<JobNow> job = reader->read();
  if (!job) return job.failure();
  const std::size_t slash = path.rfind('/');
  const Outcome<Descriptor> directory = open_directory(path.substr(0, slash), false);
  if (!directory) return directory.failure();
  const Outcome<Descriptor> file = open_record(*directory, path.substr(slash + 1), O_RDWR);
  if (!file) return file.failure();
  const auto slots = static_cast<std::uint32_t>(job->here.size());
  const std::size_t bytes = offset_of_slot(slots);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->number(), 0);
  if (mapped == MAP_FAILED) return Failure{"cannot map " + path + ": " + std::strerror(errno)};
  return Suspender(mapped, bytes, slots);
}

Suspender::~Suspender() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
}

Suspender::Suspender(Suspender&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)), bytes_(other.bytes_), slots_(other.slots_) {}

std::uint64_t Suspender::passed() const {
  std::uint64_t most = 0;
  for (std::uint32_t i = 0; i < slots_; ++i) {
    const auto* slot = reinterpret_cast<const Slot*>(static_cast<const std::byte*>(mapped_) + offset_of_slot(i));
    most = std::max(most, slot->boundaries.load());
  }
  return most;
}

bool Suspender::ask_to_stop(std::uint64_t at, std::uint64_t until) {
  header().control.until.store(until);
  header().control.stop_at.store(at);
  // A rank counts a boundary and then looks whether it should stop, without a fence between. This makes each running
  // thread of the machine pass a fence: a rank that has not looked before looks after it.
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  if (passed() < at) return true;
  let_go();
  return false;
}

void Suspender::renew(std::uint64_t until) { header().control.until.store(until); }

void Suspender::let_go() {
  Control& control = header().control;
  control.stop_at.store(0);
  control.wakes.fetch_add(1);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&control.wakes), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace halcyon::live
