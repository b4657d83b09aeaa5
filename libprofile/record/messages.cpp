#include "libprofile/record/messages.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace halcyon {
namespace {

std::atomic<bool> has_warned{false};
std::atomic<bool> has_told_outcome{false};

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

// In one call, so that lines of several ranks do not mix; and without the wrapper of this library.
void print(std::string_view message) {
  const int saved = errno;
  const iovec parts[] = {part("halcyon: "), part(message), part("\n")};
  syscall(SYS_writev, STDERR_FILENO, parts, 3);
  errno = saved;
}

}  // namespace

void warn(std::string_view message) noexcept {
  if (!has_warned.exchange(true)) print(message);
}

void tell_outcome(std::string_view message) noexcept {
  if (!has_told_outcome.exchange(true)) print(message);
}

}  // namespace halcyon
