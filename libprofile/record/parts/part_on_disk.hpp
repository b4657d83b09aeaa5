// The file of a part while it is written: by the rank itself, or for it by the process that keeps it from waiting for
// a spool (spool_keeper.hpp).
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {

/// What a part begins with.
using PartMagic = std::array<char, 8>;
/// In its place in a part that could not be written as a whole.
inline constexpr PartMagic withdrawn_magic{'H', 'L', 'C', 'N', 'O', 'N', 'E', '\0'};
inline bool is_free(const PartMagic& magic) { return magic == PartMagic{} || magic == withdrawn_magic; }

/// Its functions return 0, or errno. All but remove_run() are async-signal-safe, and block SIGXFSZ, so that a limit on
/// file sizes does not end the process.
class PartOnDisk {
 public:
  PartOnDisk() = default;
  /// One that is there, to be read.
  explicit PartOnDisk(OwnDescriptor file) : file_(std::move(file)) {}

  /// `beginning_at`: where the file has the beginning of this part, which must not be there yet. The directory is
  /// made, too.
  int create(const char* directory, const char* path, std::uint64_t beginning_at);
  /// Changes `pieces`, by what has been written.
  int write(std::uint64_t offset, std::span<iovec> pieces) const;
  /// Both of them unless another rank has, and the directory has other files.
  void remove(const char* directory, const char* path) const;
  /// The files of all ranks of the run.
  static void remove_run(const std::string& directory, const std::string& path);

  explicit operator bool() const { return static_cast<bool>(file_); }
  int number() const { return file_.number(); }
  bool is_still_ours() const { return file_.is_still_ours(); }
  /// Created by this process.
  bool is_new() const { return is_new_; }

 private:
  OwnDescriptor file_;
  bool is_new_ = false;
};

}  // namespace halcyon
