#include "cli/witness/switches.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::cli {
namespace {

constexpr std::size_t pages = 64;                 // of a buffer: some 5000 switches
constexpr std::uint64_t settles_after = 1000000;  // ns: then a record of that time is in its buffer

// Each record has this at its end, as `sample_type` asks.
struct Origin {
  std::uint32_t process;
  std::uint32_t thread;
  std::uint64_t nanoseconds;
  std::uint32_t cpu;
  std::uint32_t reserved;
};

template <class T>
T at(const std::vector<char>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Thread thread_of(std::uint32_t process, std::uint32_t number) {
  return {static_cast<pid_t>(process), static_cast<pid_t>(number)};
}

}  // namespace

class Switches::Buffer {
 public:
  Buffer(Descriptor file, void* memory) : file_(std::move(file)), memory_(memory) {}
  ~Buffer() { munmap(memory_, size()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  static std::size_t size() { return (1 + pages) * page(); }
  int number() const { return file_.number(); }

  void take(std::vector<Record>& records, std::uint64_t& lost) {
    auto* const head = static_cast<perf_event_mmap_page*>(memory_);
    const char* const data = static_cast<const char*>(memory_) + page();
    const std::size_t capacity = pages * page();
    const std::uint64_t end = std::atomic_ref(head->data_head).load(std::memory_order_acquire);
    std::uint64_t begin = head->data_tail;
    std::vector<char> bytes;
    const auto copy = [&](std::size_t count) {
      bytes.resize(count);
      for (std::size_t i = 0; i < count; ++i) bytes[i] = data[(begin + i) % capacity];
    };
    while (begin < end) {
      copy(sizeof(perf_event_header));
      const auto header = at<perf_event_header>(bytes, 0);
      if (header.size < sizeof header) break;
      copy(header.size);
      add(header, bytes, records, lost);
      begin += header.size;
    }
    std::atomic_ref(head->data_tail).store(begin, std::memory_order_release);
  }

 private:
  static void add(const perf_event_header& header, const std::vector<char>& bytes, std::vector<Record>& records,
                  std::uint64_t& lost) {
    constexpr std::size_t body = sizeof(perf_event_header);
    if (header.type == PERF_RECORD_LOST) lost += at<std::uint64_t>(bytes, body + 8);
    if (bytes.size() < body + 8 + sizeof(Origin)) return;
    const auto origin = at<Origin>(bytes, bytes.size() - sizeof(Origin));
    const auto first = at<std::uint32_t>(bytes, body);
    const auto second = at<std::uint32_t>(bytes, body + 4);
    if (header.type == PERF_RECORD_SWITCH_CPU_WIDE) {
      const Thread own = thread_of(origin.process, origin.thread);
      const Thread other = thread_of(first, second);
      const bool is_out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
      if (!is_out) return;  // its other half has told
      records.push_back(
          {origin.nanoseconds, Switch{.cpu = origin.cpu,
                                      .nanoseconds = origin.nanoseconds,
                                      .before = own,
                                      .after = other,
                                      .is_preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0}});
    } else if (header.type == PERF_RECORD_FORK && first != second) {
      records.push_back({origin.nanoseconds, Forked{static_cast<pid_t>(first), static_cast<pid_t>(second)}});
    } else if (header.type == PERF_RECORD_COMM && first == second) {
      const char* const name = bytes.data() + body + 8;
      records.push_back({origin.nanoseconds, Renamed{static_cast<pid_t>(first),
                                                     std::string(name, strnlen(name, bytes.size() - body - 8))}});
    }
  }

  Descriptor file_;
  void* memory_;
};

void Switches::Ends::operator()(Buffer* buffer) const { delete buffer; }

std::uint64_t Switches::now() { return nanoseconds_of(CLOCK_MONOTONIC); }

Outcome<Switches> Switches::open() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_DUMMY;
  wanted.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  wanted.sample_id_all = 1;
  wanted.context_switch = 1;
  wanted.task = 1;
  wanted.comm = 1;
  wanted.use_clockid = 1;
  wanted.clockid = CLOCK_MONOTONIC;
  wanted.watermark = 1;
  wanted.wakeup_watermark = static_cast<std::uint32_t>(pages * Buffer::page() / 2);
  Switches switches;
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < configured; ++cpu) {
    Descriptor file(static_cast<int>(syscall(SYS_perf_event_open, &wanted, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!file && (errno == ENODEV || errno == EINVAL) && cpu > 0) continue;  // it is offline
    if (!file && (errno == EACCES || errno == EPERM)) {
      std::string level;
      std::ifstream("/proc/sys/kernel/perf_event_paranoid") >> level;
      return Failure{
          fmt::format("this user may not see who has the CPUs: be root, or have CAP_PERFMON, or let the "
                      "administrator set kernel.perf_event_paranoid to 0 (it is {})",
                      level.empty() ? "not known" : level)};
    }
    if (!file)
      return Failure{fmt::format("the kernel does not tell of context switches on CPU {}: {}", cpu, strerror(errno))};
    void* const memory = mmap(nullptr, Buffer::size(), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (memory == MAP_FAILED)
      return Failure{fmt::format("no buffer of {} KiB for each of {} CPUs: {} (kernel.perf_event_mlock_kb)",
                                 Buffer::size() / 1024, configured, strerror(errno))};
    switches.buffers_.emplace_back(new Buffer(std::move(file), memory));
  }
  return switches;
}

void Switches::read(double seconds, std::vector<Record>& records) {
  std::vector<pollfd> files;
  for (const auto& buffer : buffers_) files.push_back({buffer->number(), POLLIN, 0});
  if (seconds > 0.0) poll(files.data(), files.size(), static_cast<int>(1e3 * seconds));
  const std::uint64_t settled = now() - settles_after;
  for (const auto& buffer : buffers_) buffer->take(early_, lost_);
  std::ranges::stable_sort(early_, {}, &Record::nanoseconds);
  const auto end = seconds > 0.0 ? std::ranges::upper_bound(early_, settled, {}, &Record::nanoseconds) : early_.end();
  records.insert(records.end(), early_.begin(), end);
  early_.erase(early_.begin(), end);
}

}  // namespace halcyon::cli
