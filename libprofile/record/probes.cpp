#include "libprofile/record/probes.hpp"

#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libprofile/record/background.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace halcyon {
namespace {

// Each repetition takes some 10 to 50 µs, so that the best one is not disturbed by ticks and interrupts.
constexpr double registers_ms = 1.0;
constexpr double l2_ms = 1.0;
constexpr double memory_ms = 2.0;
constexpr std::size_t least_repetitions = 16;
constexpr int steps_in_registers = 16384;
constexpr int loads_from_l2 = 2048;
constexpr int loads_from_memory = 128;
constexpr std::size_t line = 64;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t l2_bytes = std::size_t{128} << 10;  // beyond a level-1 cache, within a level-2
constexpr std::size_t stream_bytes = std::size_t{128} << 10;
constexpr std::size_t buffer_bytes = std::size_t{4} << 20;

// Flushing the next data from the caches makes a small buffer as good as one larger than all caches. The kernel would
// take longer to provide such a large one than all probes last.
#if defined(__x86_64__)
constexpr bool can_flush = true;
void flush(const std::byte* address) { _mm_clflush(address); }
void finish_flushing() { _mm_mfence(); }
#elif defined(__aarch64__)
constexpr bool can_flush = true;
void flush(const std::byte* address) { asm volatile("dc civac, %0" : : "r"(address) : "memory"); }
void finish_flushing() { asm volatile("dsb sy" : : : "memory"); }
#else
constexpr bool can_flush = false;
void flush(const std::byte*) {}
void finish_flushing() {}
#endif

// The pages are written, or the kernel would map one page of zeros everywhere. They are small, since the kernel may
// take longer to clear a huge page than all probes last.
class Buffer {
 public:
  Buffer() {
    void* memory = mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    begin_ = static_cast<std::byte*>(memory);
    madvise(memory, buffer_bytes, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < buffer_bytes; at += page_bytes)
      static_cast<volatile std::byte*>(begin_)[at] = std::byte{0};
  }
  ~Buffer() {
    if (begin_ != nullptr) munmap(begin_, buffer_bytes);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::byte* begin() const { return begin_; }

 private:
  std::byte* begin_ = nullptr;
};

// Independent chains of integer and floating-point work. Unlike the background's single chain, they keep a core's units
// busy, so that sharing the core with another thread shows.
void work_in_registers() {
  std::array<std::uint64_t, 4> integers{1, 2, 3, 4};
  std::array<double, 4> reals{1.0, 2.0, 3.0, 4.0};
  for (int step = 0; step < steps_in_registers; ++step) {
    for (std::uint64_t& state : integers) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
    }
    for (double& value : reals) value = value * 0.999 + 0.001;
  }
  asm volatile("" : : "g"(&integers), "g"(&reals) : "memory");  // or the compiler would drop the work
}

// Places in a buffer whose size is a power of two, in an order that cannot be predicted: Knuth's MMIX generator.
std::uint64_t next_place(std::uint64_t state) { return state * 6364136223846793005u + 1442695040888963407u; }
std::size_t offset_of(std::uint64_t state, std::size_t bytes) { return (state >> 20) & (bytes - line); }

std::uint64_t word_at(const std::byte* address) {
  std::uint64_t word = 0;
  std::memcpy(&word, address, sizeof word);
  return word;
}

// The buffer holds zeros: they do not change the next place, but it depends on their load.
std::uint64_t chase(const std::byte* buffer, std::size_t bytes, int loads, std::uint64_t state) {
  for (int load = 0; load < loads; ++load) {
    state = next_place(state);
    state += word_at(buffer + offset_of(state, bytes));
  }
  return state;
}

// Four sums, so that no addition waits for another: a core adds 64 bytes far faster than memory delivers them.
void read_stream(const std::byte* from) {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
  for (const std::byte* at = from; at != from + stream_bytes; at += 4 * sizeof a) {
    a += word_at(at);
    b += word_at(at + sizeof a);
    c += word_at(at + 2 * sizeof a);
    d += word_at(at + 3 * sizeof a);
  }
  a += b + c + d;
  asm volatile("" : "+r"(a));
}

}  // namespace

ProbeTimes measure_probes(const Clock& clock, double nanoseconds_per_tick, bool of_registers_alone) {
  ProbeTimes measured;
  const auto probe = [&](Probe which, double milliseconds, double units, auto prepare, auto work) {
    const Ticks budget{static_cast<std::uint64_t>(milliseconds * 1e6 / nanoseconds_per_tick)};
    const Repetitions repetitions = repeat(clock, budget, least_repetitions, prepare, work);
    const double seconds = nanoseconds_per_tick * 1e-9 / units;
    const double least = *std::min_element(repetitions.times.begin(), repetitions.times.end());
    measured[index_of(which)] = {least * seconds, repetitions.mean() * seconds};
  };
  const auto nothing = [] {};
  probe(Probe::registers, registers_ms, 1.0, nothing, work_in_registers);
  if (of_registers_alone) return measured;
  const Buffer buffer;
  if (buffer.begin() == nullptr) return measured;

  const std::byte* const memory = buffer.begin();
  std::uint64_t place = 1;
  for (std::size_t at = 0; at < l2_bytes; at += line)
    place += static_cast<std::uint64_t>(memory[at]);  // loads it into the cache
  probe(Probe::l2, l2_ms, loads_from_l2, nothing, [&] { place = chase(memory, l2_bytes, loads_from_l2, place); });
  if (!can_flush) return measured;

  const auto flush_places = [&] {
    std::uint64_t ahead = place;
    for (int load = 0; load < loads_from_memory; ++load) {
      ahead = next_place(ahead);
      flush(memory + offset_of(ahead, buffer_bytes));
    }
    finish_flushing();
  };
  probe(Probe::memory_latency, memory_ms, loads_from_memory, flush_places,
        [&] { place = chase(memory, buffer_bytes, loads_from_memory, place); });
  asm volatile("" : "+r"(place));

  const std::byte* from = memory;
  const auto flush_stream = [&] {
    from = from + 2 * stream_bytes > memory + buffer_bytes ? memory : from + stream_bytes;
    for (std::size_t at = 0; at < stream_bytes; at += line) flush(from + at);
    finish_flushing();
  };
  probe(Probe::memory_bandwidth, memory_ms, static_cast<double>(stream_bytes / line), flush_stream,
        [&] { read_stream(from); });
  return measured;
}

}  // namespace halcyon
