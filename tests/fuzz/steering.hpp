// What the fuzz targets share: decisions out of the fuzzer's bytes, promises that end the process when they are broken,
// and files that never see a disk.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "libprofile/format/profile.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/system/legible.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace halcyon::fuzz {

inline void promise(bool kept, std::string_view what, std::string_view shown = {}) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(shown.size()), shown.data());
  std::abort();
}

/// Decisions in the order of the bytes; zeros when they are used up.
class Steering {
 public:
  Steering(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool done() const { return at_ == end_; }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : *at_++; }
  template <class T>
  T value() {
    std::array<std::uint8_t, sizeof(T)> bytes{};
    for (std::uint8_t& one : bytes) one = byte();
    T result;
    std::memcpy(&result, bytes.data(), sizeof result);
    return result;
  }
  std::size_t below(std::size_t count) { return count <= 256 ? byte() % count : value<std::uint16_t>() % count; }
  std::string text() {
    std::string result;
    for (std::size_t left = byte(); left > 0 && !done(); --left) result += static_cast<char>(byte());
    return result;
  }
  std::string_view rest() const { return {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(end_ - at_)}; }

  std::int64_t integer() {
    constexpr std::array<std::int64_t, 16> telling{
        0,         1,        2, 3, 4, 5, -1, 255, 65535, 65536, 1 << 24, (1LL << 32), (1LL << 32) - 1, (1LL << 53) + 1,
        INT64_MAX, INT64_MIN};
    const std::uint8_t which = byte();
    return which < 64 ? telling[which % telling.size()] : which < 192 ? which - 64 : value<std::int64_t>();
  }
  double real() {
    using limits = std::numeric_limits<double>;
    constexpr std::array<double, 20> telling{0.0,
                                             -0.0,
                                             1.0,
                                             -1.0,
                                             limits::quiet_NaN(),
                                             limits::infinity(),
                                             -limits::infinity(),
                                             limits::denorm_min(),
                                             limits::min(),
                                             limits::max(),
                                             3.4e38,
                                             1.2e-38,
                                             1e-45,
                                             1e-9,
                                             1e-6,
                                             1e-3,
                                             0.5,
                                             7.0,
                                             9007199254740993.0,
                                             18446744073709551616.0};
    const std::uint8_t which = byte();
    return which < 160 ? telling[which % telling.size()] : which < 200 ? 1e-3 * byte() : value<double>();
  }
  /// A value of the type, as the bytes that it has in memory.
  void element(ElementType type, char* into) {
    const auto put = [into](auto value) { std::memcpy(into, &value, sizeof value); };
    switch (type) {
      case ElementType::u8:
      case ElementType::text: return put(static_cast<std::uint8_t>(integer()));
      case ElementType::u16: return put(static_cast<std::uint16_t>(integer()));
      case ElementType::u32: return put(static_cast<std::uint32_t>(integer()));
      case ElementType::u64: return put(static_cast<std::uint64_t>(integer()));
      case ElementType::f64: return put(real());
      case ElementType::f32: {
        const double wide = real();
        const bool fits = !(std::abs(wide) > static_cast<double>(std::numeric_limits<float>::max()));
        return put(
            fits ? static_cast<float>(wide)
                 : std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(wide > 0.0 ? 1.0 : -1.0)));
      }
    }
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// An unnamed file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content = {}) : descriptor_(memfd_create("fuzz", 0)) {
    promise(descriptor_ >= 0 && write_fully(descriptor_, content.data(), content.size()), "memory for a file");
    rewind();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  void rewind() const { lseek(descriptor_, 0, SEEK_SET); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// A directory in memory for a process; what is left in it goes with the process.
inline const std::string& scratch() {
  struct Directory {
    std::string path = "/dev/shm/halcyon-fuzz-XXXXXX";
    Directory() { promise(mkdtemp(path.data()) != nullptr, "a directory in /dev/shm"); }
    ~Directory() { rmdir(path.c_str()); }
  };
  static const Directory directory;
  return directory.path;
}

/// What is shown promises that nothing in it steers a terminal.
inline void promise_legible(const std::string& text) {
  promise(legible_lines(text) == text, "nothing steers the terminal", text);
}

/// What a Failure promises to be: one line.
inline void promise_one_line(const std::string& message) {
  promise(!message.empty() && legible(message) == message, "a failure says why in one line", message);
}

/// A run that is judged and has some of everything: two kinds of segments on two hosts, some of them delayed.
inline Profile eventful_profile() {
  constexpr std::size_t segments = 64;
  Profile profile = testing::uniform_profile(segments, 1e-3, 3);
  profile.rank_host = {"a", "a", "b"};
  profile.sites = {"allreduce@app+0x10", "barrier@app+0x20"};
  profile.site.resize(segments);
  profile.inject = "class=all,prob=0.1,mean=1ms";
  profile.boundary = "auto";
  FeatureColumn& compute = testing::column(profile, Feature::compute);
  compute = {{1e6, 1.001e6, 2e6}, std::vector<std::uint16_t>(segments)};
  testing::column(profile, Feature::sends_blocking) = {{2.0, 3.0}, std::vector<std::uint16_t>(segments)};
  testing::column(profile, Feature::bytes_sent) = {{1024.0, 2048.0}, std::vector<std::uint16_t>(segments)};
  double run_time = 0.0;
  for (std::size_t i = 0; i < segments; ++i) {
    const bool other = i % 3 == 2;
    profile.site[i] = other ? 1 : 0;
    compute.index[i] = static_cast<std::uint16_t>(other ? 2 : i % 2);
    testing::column(profile, Feature::sends_blocking).index[i] = other ? 1 : 0;
    testing::column(profile, Feature::bytes_sent).index[i] = other ? 1 : 0;
    const double delay = i % 11 == 5 ? 2e-3 : 0.0;
    const double seconds = (other ? 2e-3 : 1e-3) * (1.0 + 0.001 * static_cast<double>(i * 7 % 13)) + delay;
    profile.duration[i] = static_cast<float>(seconds);
    profile.boundary_wait[i] = static_cast<float>(0.1 * seconds);
    profile.last_rank[i] = static_cast<std::uint32_t>(i % 3);
    profile.last_rank_times[0][i] = static_cast<float>(0.3 * seconds);
    profile.last_rank_off_cpu[i] = static_cast<float>(delay);
    profile.calls_beyond_usual[i] = static_cast<float>(0.5 * delay);
    run_time += seconds;
  }
  profile.run_time_seconds = run_time;
  profile.rank_run_time.assign(3, run_time);
  profile.injected.requested.assign(segments, 1e-4F);
  profile.injected.actual = profile.injected.critical = profile.injected.requested;
  profile.background_before = profile.background_after = {{5e-5, 5e-5, 5e-5}, {6e-5, 6e-5, 6e-5}};
  for (auto& values : profile.evidence) values.assign(3, 2.0);
  profile.modules = {{"app", "/nowhere/app", "0123"}};
  return profile;
}

}  // namespace halcyon::fuzz
