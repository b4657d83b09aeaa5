// A file that never outlives this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// It has `bytes` zeros at first, and is only for this user. It is removed when the object ends. If this process is
/// killed, a waiting child process removes it. If that is killed, too, remove_abandoned() does.
class TemporaryFile {
 public:
  static Outcome<TemporaryFile> make(const std::string& path, std::size_t bytes);

  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::move(other.file_)),
        remover_(std::exchange(other.remover_, 0)),
        lifeline_(other.lifeline_) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return file_.number(); }
  /// What is in it now, also if its directory is gone.
  std::string content() const;

 private:
  TemporaryFile(std::string path, Descriptor file, pid_t remover, int lifeline)
      : path_(std::move(path)), file_(std::move(file)), remover_(remover), lifeline_(lifeline) {}

  std::string path_;
  Descriptor file_;  // locked: it is not abandoned
  pid_t remover_;    // 0 if moved from
  int lifeline_;     // of a pipe that the remover reads, and that the kernel closes when this process ends
};

/// Removes the files in a directory whose names begin and end so, and that no process on any host holds as a temporary
/// file. Where the file system has no locks, they stay.
void remove_abandoned(const std::string& directory, std::string_view beginning, std::string_view ending);

}  // namespace halcyon::cli
