#include "libprofile/format/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "libprofile/system/cannot_write.hpp"

namespace halcyon {
namespace {

// FILE.h5, FILE-2.h5, FILE-3.h5 ...
std::string numbered(const std::string& path, int number) {
  if (number == 1) return path;
  const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = path.rfind('.');
  const std::size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + "-" + std::to_string(number) + path.substr(at);
}

std::string partial_name(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
  return path.substr(0, name) + "." + path.substr(name) + "." + std::to_string(getpid()) + ".partial";
}

}  // namespace

NewFile::NewFile(std::string path) : path_(std::move(path)), partial_(partial_name(path_)) {}

NewFile::~NewFile() {
  if (is_there_) unlink(partial_.c_str());
}

Status NewFile::create() {
  const int made = open(partial_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (made < 0) return cannot_write(path_, errno);
  close(made);
  is_there_ = true;
  return Done{};
}

Status NewFile::copy() {
  std::error_code error;
  errno = 0;
  is_there_ = std::filesystem::copy_file(path_, partial_, error);
  if (is_there_) return Done{};
  const int why = errno != 0 ? errno : error.value();  // the library calls a full disk an input/output error
  if (error != std::errc::file_exists) unlink(partial_.c_str());
  return cannot_write(path_, why);
}

Outcome<std::string> NewFile::give_name() {
  constexpr int most_names = 1000;
  for (int number = 1; number <= most_names; ++number) {
    const std::string name = numbered(path_, number);
    // Unlike rename, link refuses to replace a file.
    if (link(partial_.c_str(), name.c_str()) == 0) return name;
    if (errno == EEXIST) continue;
    // On a file system without hard links, rename after a check is the second best.
    if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK) break;
    if (access(name.c_str(), F_OK) == 0) continue;
    if (rename(partial_.c_str(), name.c_str()) != 0) break;
    is_there_ = false;
    return name;
  }
  return cannot_write(path_, errno);
}

Outcome<std::string> NewFile::replace() {
  if (rename(partial_.c_str(), path_.c_str()) != 0) return cannot_write(path_, errno);
  is_there_ = false;
  return path_;
}

}  // namespace halcyon
