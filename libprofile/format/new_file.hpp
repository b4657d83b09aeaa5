// A file that gets its name when it is complete.
#pragma once

#include <string>

#include "libprofile/system/outcome.hpp"

namespace halcyon {

/// Written under a hidden name beside its place. Without give_name() or replace(), nothing remains.
class NewFile {
 public:
  /// `path`: its place. Touches nothing.
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Makes it: an empty one, or a copy of the file at its place.
  Status create();
  Status copy();
  const std::string& path() const { return path_; }
  /// Where it is written.
  const std::string& partial() const { return partial_; }

  /// Gives the closed file its name, or the first free one of NAME-2, NAME-3 ...: an existing file is never replaced.
  Outcome<std::string> give_name();
  /// Puts the closed file into the place of the one that is there.
  Outcome<std::string> replace();

 private:
  std::string path_;
  std::string partial_;
  bool is_there_ = false;
};

}  // namespace halcyon
