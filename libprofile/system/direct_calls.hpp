// System calls that go to the kernel, and through no wrapper: neither the tools' own, which would count them as the
// program's, nor those of other tools, which may allocate, lock or search for symbols. Results and errno are as in
// libc. Async-signal-safe.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace halcyon::direct {

inline int open_at(int directory, const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(syscall(SYS_openat, directory, path, flags | O_CLOEXEC, mode));
}
inline int open(const char* path, int flags, mode_t mode = 0) { return open_at(AT_FDCWD, path, flags, mode); }
inline int close(int file) { return static_cast<int>(syscall(SYS_close, file)); }
/// A copy of the descriptor whose number is not below `least`.
inline int duplicate(int file, int least) { return static_cast<int>(syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, least)); }
/// The bytes of a file from `at` on, which may lie behind its end, as one process at a time may hold them: `bytes` of
/// them, or all (0). The process holds them until it ends, or closes the file.
inline struct flock held_bytes(off_t at, off_t bytes) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = bytes;
  return lock;
}
inline int hold(int file, struct flock bytes) { return static_cast<int>(syscall(SYS_fcntl, file, F_SETLK, &bytes)); }
/// Whether another process holds any of them.
inline bool is_held(int file, struct flock bytes) {
  return syscall(SYS_fcntl, file, F_GETLK, &bytes) == 0 && bytes.l_type != F_UNLCK;
}
inline int status(int file, struct stat& status) { return static_cast<int>(syscall(SYS_fstat, file, &status)); }

/// Of the name itself, if it is a link.
inline int status_of_name(const char* path, struct stat& status) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW));
}

inline ssize_t write(int file, const void* data, std::size_t bytes) { return syscall(SYS_write, file, data, bytes); }
inline ssize_t read(int file, void* data, std::size_t bytes) { return syscall(SYS_read, file, data, bytes); }
inline ssize_t read_at(int file, void* data, std::size_t bytes, std::uint64_t offset) {
  return syscall(SYS_pread64, file, data, bytes, offset);
}
// The kernel takes an offset in two halves, of which 64-bit systems use the first alone.
inline ssize_t read_at(int file, const iovec* pieces, std::size_t count, std::uint64_t offset) {
  return syscall(SYS_preadv, file, pieces, count, offset, 0);
}
inline ssize_t write_at(int file, const iovec* pieces, std::size_t count, std::uint64_t offset) {
  return syscall(SYS_pwritev, file, pieces, count, offset, 0);
}

inline int make_directory(const char* path, mode_t mode) {
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
/// Gives its owner these rights, which the umask may have taken.
inline void allow(const char* path, mode_t rights) {
  struct stat made {};
  if (status_of_name(path, made) == 0) syscall(SYS_fchmodat, AT_FDCWD, path, made.st_mode | rights);
}
inline int remove_file(const char* path) { return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0)); }
inline int remove_directory(const char* path) {
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

inline uid_t effective_user() { return static_cast<uid_t>(syscall(SYS_geteuid)); }
inline pid_t thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

inline void sleep_a_millisecond() {
  const timespec millisecond{0, 1'000'000};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &millisecond, nullptr);
}

}  // namespace halcyon::direct
