#include "libprofile/interpose/open_files.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace halcyon {

constinit OpenFiles open_files;

namespace {

enum class Answer : std::uint8_t { is_file, is_no_file, is_not_open };

// File systems whose files are regular by their mode, but are made by the kernel when they are read.
bool is_made_by_kernel(int descriptor) {
  constexpr long configfs = 0x62656570;
  constexpr long mqueue = 0x19800202;
  constexpr long made_by_kernel[] = {PROC_SUPER_MAGIC,
                                     SYSFS_MAGIC,
                                     CGROUP_SUPER_MAGIC,
                                     CGROUP2_SUPER_MAGIC,
                                     DEBUGFS_MAGIC,
                                     TRACEFS_MAGIC,
                                     SECURITYFS_MAGIC,
                                     SELINUX_MAGIC,
                                     SMACK_MAGIC,
                                     BPF_FS_MAGIC,
                                     PSTOREFS_MAGIC,
                                     EFIVARFS_MAGIC,
                                     NSFS_MAGIC,
                                     BINFMTFS_MAGIC,
                                     RDTGROUP_SUPER_MAGIC,
                                     configfs,
                                     mqueue};
  struct statfs system {};
  return fstatfs(descriptor, &system) == 0 &&
         std::find(std::begin(made_by_kernel), std::end(made_by_kernel), system.f_type) != std::end(made_by_kernel);
}

// Asks for what the kernel has at hand: fstat would make NFS write out its pages, and Lustre ask its servers.
Answer answer_of_kernel(int descriptor) {
  struct statx about {};
  if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_BLOCKS, &about) != 0) {
    struct stat status {};  // an old kernel, or a sandbox that forbids it
    if (errno == EBADF || fstat(descriptor, &status) != 0) return Answer::is_not_open;
    about.stx_mode = static_cast<std::uint16_t>(status.st_mode);
  }
  if (!S_ISREG(about.stx_mode)) return Answer::is_no_file;
  // Files that the kernel makes lie on no device and have no blocks.
  const bool may_be_made = about.stx_dev_major == 0 && about.stx_blocks == 0;
  return may_be_made && is_made_by_kernel(descriptor) ? Answer::is_no_file : Answer::is_file;
}

}  // namespace

void OpenFiles::begin() noexcept { process_.store(getpid(), std::memory_order_relaxed); }

bool OpenFiles::ask(int descriptor) noexcept {
  if (descriptor < 0) return false;
  const bool has_place = descriptor < kept;
  std::uint32_t known = has_place ? known_[descriptor].load(std::memory_order_relaxed) : 0;
  const int saved = errno;
  const Answer answer = answer_of_kernel(descriptor);
  // A child of vfork shares this memory, but has descriptors of its own.
  const bool is_kept = has_place && answer != Answer::is_not_open && (known & answer_mask) == unknown &&
                       process_.load(std::memory_order_relaxed) == getpid();
  errno = saved;
  if (is_kept) {
    known_[descriptor].compare_exchange_strong(known, known | (answer == Answer::is_file ? file : no_file),
                                               std::memory_order_relaxed);
  }
  return answer == Answer::is_file;
}

void OpenFiles::forget(int descriptor) noexcept {
  if (static_cast<unsigned>(descriptor) >= known_.size()) return;
  std::atomic<std::uint32_t>& place = known_[descriptor];
  std::uint32_t known = place.load(std::memory_order_relaxed);
  while (!place.compare_exchange_weak(known, (known & ~answer_mask) + once_forgotten)) {
  }
}

Closed Closed::range(unsigned first, unsigned last) noexcept {
  constexpr unsigned end = OpenFiles::kept;
  return {static_cast<int>(std::min(first, end)), static_cast<int>(std::min(last, end - 1))};
}

}  // namespace halcyon
