// Descriptors of the tools in a process that is not theirs: the program may close any number, and get it back for a
// file of its own.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "libprofile/system/direct_calls.hpp"

namespace halcyon {

/// Closed at the end, if it is still ours. All is async-signal-safe.
class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  /// `file`: just opened, or -1, which leaves errno as it is. Its number becomes one that programs neither rely on nor
  /// close by habit.
  explicit OwnDescriptor(int file) : number_(file) {
    if (file < 0) return;
    constexpr int least = 512;
    if (const int high = direct::duplicate(file, least); high >= 0) direct::close(std::exchange(number_, high));
    if (struct stat state{}; direct::status(number_, state) == 0) {
      device_ = state.st_dev;
      inode_ = state.st_ino;
    }
  }
  ~OwnDescriptor() {
    if (is_still_ours()) direct::close(number_);
  }
  OwnDescriptor(OwnDescriptor&& other) noexcept { *this = std::move(other); }
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  bool is_still_ours() const {
    struct stat now {};
    return number_ >= 0 && direct::status(number_, now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
  }

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// An empty file that no file system has.
inline OwnDescriptor file_in_memory() {
  constexpr unsigned close_on_exec = 1;
  return OwnDescriptor(static_cast<int>(syscall(SYS_memfd_create, "halcyon", close_on_exec)));
}

/// A descriptor that nothing uses: it is closed when one is needed and the program has used up its limit.
inline OwnDescriptor spare_descriptor() { return file_in_memory(); }

/// Has the kernel make room for these numbers. To be called while the process has one thread: once there are several,
/// as MPI_Init may start, the kernel waits for all CPUs before it takes a larger table (synchronize_rcu), up to 50 ms.
inline void make_room_for_descriptors() { const OwnDescriptor made = spare_descriptor(); }

/// As many as the writer process's pipes need, and files of /proc.
class SpareDescriptors {
 public:
  void reserve() {
    for (OwnDescriptor& spare : spares_) spare = spare_descriptor();
    restore_limit();
  }
  /// Their numbers are then free, also for a program that has lowered its limit since, unless that binds us, too.
  void release() {
    rlim_t enough = 0;
    for (const OwnDescriptor& spare : spares_) enough = std::max(enough, static_cast<rlim_t>(spare.number() + 1));
    struct rlimit limit {};
    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) == 0 && limit.rlim_cur < enough) {
      const struct rlimit raised { enough, std::max(limit.rlim_max, enough) };
      if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, nullptr) == 0) of_program_ = limit;
    }
    for (OwnDescriptor& spare : spares_) spare = OwnDescriptor();
  }
  void restore_limit() {
    if (of_program_) syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &*of_program_, nullptr);
    of_program_.reset();
  }

 private:
  std::array<OwnDescriptor, 6> spares_;
  std::optional<struct rlimit> of_program_;  // while it is raised
};

}  // namespace halcyon
