#include "libprofile/record/messages.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "libprofile/system/legible.hpp"

namespace halcyon {
namespace {

std::atomic<bool> has_warned{false};
std::atomic<bool> has_told_outcome{false};
std::atomic<bool> is_quiet{false};

iovec part(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

// In one call, so that lines of several ranks do not mix; and without the wrapper of this library.
void print_line(std::string_view text) {
  const iovec parts[] = {part("halcyon: "), part(text), part("\n")};
  syscall(SYS_writev, STDERR_FILENO, parts, 3);
}

/// A line on the stack, which ends where it is full.
template <std::size_t most>
class Line {
 public:
  void put(std::string_view piece) {
    const std::size_t fits = std::min(piece.size(), most - size_);
    std::copy_n(piece.begin(), fits, text_.begin() + size_);
    size_ += fits;
  }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, most> text_;
  std::size_t size_ = 0;
};

// Names of files and programs may have any characters.
[[gnu::noinline]] void print_legible(std::string_view message) {
  Line<2048> line;
  pass_legible(message, false, [&line](std::string_view piece) { line.put(piece); });
  print_line(line.text());
}

void print(std::string_view message) {
  const int saved = errno;
  std::size_t pieces = 0;
  pass_legible(message, false, [&pieces](std::string_view) { ++pieces; });
  pieces == 1 ? print_line(message) : print_legible(message);
  errno = saved;
}

}  // namespace

void warn(std::string_view message) noexcept {
  if (!is_quiet.load() && !has_warned.exchange(true)) print(message);
}

void tell_outcome(std::string_view message) noexcept {
  if (!is_quiet.load() && !has_told_outcome.exchange(true)) print(message);
}

void tell_outcome(std::string_view message, std::string_view why) noexcept {
  Line<512> line;
  for (const std::string_view piece : {message, std::string_view(": "), why}) line.put(piece);
  tell_outcome(line.text());
}

void keep_quiet() noexcept { is_quiet.store(true); }

void tell_missing_in_ledger(std::string_view why, bool has_beginning) noexcept {
  if (has_told_outcome.exchange(true)) return;
  Line<1024> line;
  if (has_beginning) line.put("the end of ");
  for (const std::string_view piece : {std::string_view("this run is not in the ledger of the site: "), why})
    line.put(piece);
  print(line.text());
}

}  // namespace halcyon
