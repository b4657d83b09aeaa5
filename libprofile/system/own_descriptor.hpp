// Descriptors of the tools in a process that is not theirs: the program may close any number, and get it back for a
// file of its own.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
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

/// A descriptor that nothing uses: it is closed when one is needed and the program has used up its limit.
inline OwnDescriptor spare_descriptor() {
  constexpr unsigned close_on_exec = 1;
  return OwnDescriptor(static_cast<int>(syscall(SYS_memfd_create, "halcyon", close_on_exec)));
}

/// As many as the writer process's pipes need, and files of /proc.
class SpareDescriptors {
 public:
  void reserve() {
    for (OwnDescriptor& spare : spares_) spare = spare_descriptor();
  }
  void release() {
    for (OwnDescriptor& spare : spares_) spare = OwnDescriptor();
  }

 private:
  std::array<OwnDescriptor, 6> spares_;
};

}  // namespace halcyon
