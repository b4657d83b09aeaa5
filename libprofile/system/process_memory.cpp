#include "libprofile/system/process_memory.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/direct_calls.hpp"
#include "libprofile/system/number_at.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {
namespace {

// A line of /proc/PID/maps: "FIRST-END PERMISSIONS OFFSET MAJOR:MINOR INODE NAME" (man 5 proc).
class MapsLine {
 public:
  // False at the end of the line.
  bool take(char c) {
    if (field_ < field_count && c == behind_field[field_]) {
      ++field_;
    } else if (field_ < field_count && field_ != permissions) {
      const auto digit = static_cast<unsigned>(c >= 'a' ? c - 'a' + 10 : c - '0');
      values_[field_] = values_[field_] * (field_ == inode ? 10 : 16) + digit;
    }
    return c != '\n';
  }
  bool contains(std::uintptr_t address) const { return address >= values_[begin] && address < values_[end]; }
  bool is_of_file() const { return values_[inode] != 0; }
  bool is_of_file_of(const MapsLine& other) const {
    return values_[inode] == other.values_[inode] && values_[major_device] == other.values_[major_device] &&
           values_[minor_device] == other.values_[minor_device];
  }

 private:
  enum : std::size_t { begin, end, permissions, offset, major_device, minor_device, inode, field_count };
  static constexpr char behind_field[] = "-   :  ";

  std::array<std::uint64_t, field_count> values_{};
  std::size_t field_ = 0;
};

constexpr std::size_t stack_needed = std::size_t{256} << 10;  // to merge the ranks, by the MPI library's functions

[[gnu::noinline]] void use_stack() {
  auto* const room = static_cast<volatile char*>(__builtin_alloca(stack_needed));
  *room = 0;
}

}  // namespace

// A call with a mistake of its own, before which the kernel reads what it is given: it fails by EINVAL then, else by
// EFAULT.
bool is_readable(const std::uintptr_t* address) {
  constexpr int no_such_change = -1;
  return syscall(SYS_rt_sigprocmask, no_such_change, address, nullptr, sizeof(std::uint64_t)) == 0 || errno == EINVAL;
}

bool are_of_one_file(std::uintptr_t first, std::uintptr_t second) {
  const OwnDescriptor maps(direct::open("/proc/thread-self/maps", O_RDONLY));
  if (!maps) return false;
  std::array<char, 512> text;
  MapsLine line;
  MapsLine of_first;
  MapsLine of_second;
  for (ssize_t bytes; (bytes = direct::read(maps.number(), text.data(), text.size())) > 0;) {
    for (ssize_t i = 0; i < bytes; ++i) {
      if (line.take(text[static_cast<std::size_t>(i)])) continue;
      if (line.contains(first)) of_first = line;
      if (line.contains(second)) of_second = line;
      line = {};
    }
  }
  return of_first.is_of_file() && of_first.is_of_file_of(of_second);
}

// Address 0 is nobody's: the kernel first asks whether this process may read there at all.
bool may_read_memory_of(pid_t process) {
  std::uint64_t copy = 0;
  const iovec to{&copy, sizeof copy};
  const iovec from{nullptr, sizeof copy};
  return syscall(SYS_process_vm_readv, process, &to, 1, &from, 1, 0) >= 0 || errno == EFAULT;
}

bool is_there(pid_t process) { return syscall(SYS_kill, process, 0) == 0 || errno != ESRCH; }

// "Seccomp: MODE" and "Seccomp_filters: NUMBER", the latter since Linux 5.9.
int system_call_filters() {
  const Descriptor status(direct::open("/proc/thread-self/status", O_RDONLY));
  std::array<char, 4096> text{};
  if (direct::read(status.number(), text.data(), text.size() - 1) <= 0) return 0;
  int number = 0;
  for (const char* const key : {"\nSeccomp:\t", "\nSeccomp_filters:\t"}) {
    const char* const found = std::strstr(text.data(), key);
    if (found == nullptr) continue;
    const char* at = found + std::strlen(key);
    number = std::max(number, static_cast<int>(number_at(at)));
  }
  return number;
}

StackOfThread StackOfThread::of_this_thread() {
  StackOfThread stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  if (void* lowest = nullptr; pthread_attr_getstack(&attributes, &lowest, &stack.size_) == 0) {
    stack.lowest_ = reinterpret_cast<std::uintptr_t>(lowest);
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

std::size_t StackOfThread::room() const {
  const std::uintptr_t room = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - lowest_;
  return room < size_ ? room : 0;  // huge if it is below
}

void StackOfThread::grow() const {
  if (room() > 2 * stack_needed) use_stack();
}

}  // namespace halcyon
