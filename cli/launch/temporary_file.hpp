// A file that never outlives this process.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

/// It is empty at first, and only for this user. It is removed when the object ends. If this process is killed, a
/// waiting child process removes it.
class TemporaryFile {
 public:
  static Outcome<TemporaryFile> make(const std::string& path);

  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::move(other.path_)), remover_(std::exchange(other.remover_, 0)), lifeline_(other.lifeline_) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

 private:
  TemporaryFile(std::string path, pid_t remover, int lifeline)
      : path_(std::move(path)), remover_(remover), lifeline_(lifeline) {}

  std::string path_;
  pid_t remover_;  // 0 if moved from
  int lifeline_;   // of a pipe that the remover reads, and that the kernel closes when this process ends
};

}  // namespace halcyon::cli
