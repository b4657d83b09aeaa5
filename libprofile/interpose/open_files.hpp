// Which descriptors are files: regular ones, and not those that the kernel makes up when they are read (/proc, /sys).
//
// To ask the kernel takes longer than many a call does, and may send a message on a network file system. So the answer
// is kept until the descriptor is closed. A descriptor that is opened or closed by a direct system call is not noticed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>

namespace halcyon {

/// What is known of each descriptor of the process. Async-signal-safe, without a lock.
class OpenFiles {
 public:
  /// From now on answers are kept for the calling process.
  void begin() noexcept;

  [[gnu::always_inline]] bool contains(int descriptor) noexcept {
    if (static_cast<unsigned>(descriptor) < known_.size()) {
      const std::uint32_t known = known_[descriptor].load(std::memory_order_relaxed);
      if ((known & answer_mask) != unknown) return (known & answer_mask) == file;
    }
    return ask(descriptor);
  }

  /// The descriptor is about to be closed, or has a new meaning.
  void forget(int descriptor) noexcept;

  static constexpr int kept = 4096;  // those with higher numbers are asked about each time

 private:
  bool ask(int descriptor) noexcept;

  // How often the descriptor was forgotten, and the answer. An answer to a question that was asked before the
  // descriptor was forgotten is not kept: another thread may have closed it meanwhile.
  enum : std::uint32_t { unknown = 0, file = 1, no_file = 2, answer_mask = 3, once_forgotten = 4 };

  std::array<std::atomic<std::uint32_t>, kept> known_{};
  std::atomic<int> process_{0};
};

extern constinit OpenFiles open_files;

/// The descriptor of a stream; -1 if it has none. As fileno, but it keeps errno, and is inlined: a call that moves one
/// character takes a few nanoseconds.
inline int descriptor_of(const FILE* stream) noexcept {
  constexpr int has_descriptor = 0x2000;  // of glibc; streams in memory do not set _fileno
  return stream != nullptr && (stream->_flags & has_descriptor) != 0 ? stream->_fileno : -1;
}
inline int descriptor_of(int descriptor) noexcept { return descriptor; }

inline bool is_file(int descriptor) noexcept { return open_files.contains(descriptor); }
/// Null stands for all streams (fflush).
inline bool is_file(const FILE* stream) noexcept { return stream == nullptr || is_file(descriptor_of(stream)); }

/// The descriptors that a call closes.
struct Closed {
  int first;
  int last;

  template <class File>
  static Closed one(File file) noexcept {
    return {descriptor_of(file), descriptor_of(file)};
  }
  static Closed range(unsigned first, unsigned last) noexcept;

  void forget() const noexcept {
    for (int at = first; at <= last; ++at) open_files.forget(at);
  }
  /// How many of them are files.
  unsigned files() const noexcept {
    unsigned files = 0;
    for (int at = first; at <= last; ++at) files += is_file(at) ? 1 : 0;
    return files;
  }
};
/// Whether one of them is a file.
inline bool is_file(Closed closed) noexcept {
  for (int at = closed.first; at <= closed.last; ++at) {
    if (is_file(at)) return true;
  }
  return false;
}

/// Around the call that closes them. They are forgotten before they may be used again, and once more if another thread
/// has used them until they were closed: dup2 gives a descriptor a new meaning without a time when it is not open.
class Forgotten {
 public:
  explicit Forgotten(Closed closed) noexcept : closed_(closed) { closed_.forget(); }
  ~Forgotten() { closed_.forget(); }
  Forgotten(const Forgotten&) = delete;
  Forgotten& operator=(const Forgotten&) = delete;

 private:
  Closed closed_;
};

/// What a call that opens has returned: nothing is known of it yet.
template <class File>
File forgotten(File opened) noexcept {
  open_files.forget(descriptor_of(opened));
  return opened;
}

}  // namespace halcyon
