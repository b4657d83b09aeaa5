// A file that is kept open in a program that does not know of it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <utility>

namespace halcyon {

/// All functions are async-signal-safe, and call the kernel directly where wrappers could take the call for one of the
/// application.
class HeldFile {
 public:
  HeldFile() = default;
  /// Takes over a descriptor, and moves it above the numbers that programs rely on, or close because they do not know
  /// them. Nothing is held if it is negative; errno is kept then.
  explicit HeldFile(int descriptor) : number_(descriptor) {
    if (descriptor < 0) return;
    constexpr int least_number = 512;
    const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, least_number);
    if (high >= 0) {
      number_ = high;
      syscall(SYS_close, descriptor);
    }
    struct stat made {};
    fstat(number_, &made);
    device_ = made.st_dev;
    inode_ = made.st_ino;
  }
  ~HeldFile() {
    if (is_still_ours()) syscall(SYS_close, number_);
  }
  HeldFile(HeldFile&& other) noexcept
      : number_(std::exchange(other.number_, -1)), device_(other.device_), inode_(other.inode_) {}
  HeldFile& operator=(HeldFile&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// The program may have closed it, and the number may belong to another file now.
  bool is_still_ours() const {
    struct stat now {};
    return number_ >= 0 && fstat(number_, &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
  }

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace halcyon
