// Receipts: files that `halcyon run` makes for a run, in which its ranks leave word where they have written. One is on
// the host of `halcyon run`, whatever becomes of the profile's directory. The other is in that directory, for ranks on
// other hosts.
#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// What a rank has written.
enum class Left : char {
  nothing = '\0',
  profile = 'f',
  parts = 'p',
  parts_of_several_hosts = 's',  // the launcher says that some ranks run on other hosts
};

/// A receipt has this size from the start, so that there is room for the words of the ranks. They are a Left, and a
/// path that ends with a zero: paths may contain any other byte.
inline constexpr std::size_t receipt_size = 1 + PATH_MAX;

inline constexpr std::string_view beginning_of_receipt = ".halcyon-run-";
inline constexpr std::string_view end_of_receipt = ".receipt";
inline std::string receipt_in(const std::string& directory, const std::string& run) {
  return directory + "/" + std::string(beginning_of_receipt) + run + std::string(end_of_receipt);
}
/// `output`: an absolute path.
inline std::string receipt_beside(const std::string& output, const std::string& run) {
  return receipt_in(output.substr(0, output.rfind('/')), run);
}

/// A receipt as a rank holds it. It is opened when the run begins: later the rank may be another user, or its directory
/// may be gone.
class Receipt {
 public:
  /// False if there is no such file here, or it cannot be written.
  bool open(const std::string& path) {
    file_ = OwnDescriptor(opened(path));
    path_ = path;
    hold();
    return static_cast<bool>(file_);
  }
  explicit operator bool() const { return static_cast<bool>(file_); }

  /// False if nobody will read it. A single write puts the words over earlier ones, without truncating the file first:
  /// if a launcher killed this rank in between, the words of another rank would be lost. Async-signal-safe.
  bool leave(Left what, const char* path) {
    const std::size_t length = std::strlen(path) + 1;
    if (!file_ || 1 + length > receipt_size) return false;
    if (!file_.is_still_ours()) {  // the program has closed it
      file_ = OwnDescriptor();
      file_ = OwnDescriptor(opened(path_));
      hold();
    }
    const iovec words[] = {{&what, 1}, {const_cast<char*>(path), length}};  // which are only read
    long written = 0;
    while ((written = direct::write_at(file_.number(), words, 2, 0)) < 0 && errno == EINTR) continue;
    return written == static_cast<long>(1 + length) && is_awaited();
  }

 private:
  static int opened(const std::string& path) { return direct::open(path.c_str(), O_WRONLY | O_NOFOLLOW); }
  // While this process lives, `halcyon run` sees that there may be further words.
  void hold() const {
    if (file_) direct::hold(file_.number(), direct::held_bytes(static_cast<off_t>(receipt_size) + getpid(), 1));
  }
  // `halcyon run` locks it as long as it lives.
  bool is_awaited() const {
    if (flock(file_.number(), LOCK_SH | LOCK_NB) != 0) return true;  // or the file system has no locks
    flock(file_.number(), LOCK_UN);
    return false;
  }

  OwnDescriptor file_;
  std::string path_;
};

/// Whether a process holds the receipt in which it may leave words. Not that of `file`, a descriptor of it.
inline bool is_held(int file) { return direct::is_held(file, direct::held_bytes(receipt_size, 0)); }

/// The words in a receipt; nothing if no rank has left any.
struct Word {
  Left what = Left::nothing;
  std::string path;
};
inline std::optional<Word> word_in(std::string_view receipt) {
  const std::size_t end = receipt.find('\0', 1);
  if (receipt.empty() || end == std::string_view::npos) return std::nullopt;
  const Left what{receipt.front()};
  if (what != Left::profile && what != Left::parts && what != Left::parts_of_several_hosts) return std::nullopt;
  return Word{what, std::string(receipt.substr(1, end - 1))};
}

}  // namespace halcyon
