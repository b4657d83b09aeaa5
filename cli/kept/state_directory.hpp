// Small records that outlive a command, in the user's state directory: private, bounded in number and size, and safe
// with several commands at once. Their contents are not trusted: the reader of a record checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/system/descriptor.hpp"

namespace halcyon::cli {

/// $XDG_STATE_HOME/halcyon, else ~/.local/state/halcyon (XDG Base Directory Specification 0.8).
Outcome<std::string> state_directory();

/// A name for a record, made from these texts: 16 hexadecimal digits, the same at any time and on any host.
std::string record_name_of(std::initializer_list<std::string> texts);

struct RecordLimits {
  std::size_t most_records = 0;
  std::size_t most_bytes = 0;  // of each
};

/// The records of one kind: files in a directory that only the user may write to. Any other directory is refused.
class RecordStore {
 public:
  /// A missing directory is created by `writes`, and has no records for `reads`.
  enum class Use : std::uint8_t { reads, writes };
  static Outcome<RecordStore> open(const std::string& kind, RecordLimits limits, Use use);

  struct Entry {
    std::string name;
    std::int64_t used = 0;  // nanoseconds since 1970
  };
  /// The most recently used first.
  std::vector<Entry> entries() const;
  /// Nothing if there is no record of that name.
  Outcome<std::optional<std::string>> read(const std::string& name) const;

  /// While the lock lives, no other command changes the records. Fails if another command holds it for two seconds.
  Outcome<Descriptor> lock() const;
  /// These need the lock. A record is replaced in one step; the least recently used ones make room for a new one.
  Status write(const std::string& name, const std::string& text) const;
  void touch(const std::string& name) const;
  bool remove(const std::string& name) const;

  const std::string& path() const { return path_; }

 private:
  RecordStore(Descriptor directory, std::string path, RecordLimits limits)
      : directory_(std::move(directory)), path_(std::move(path)), limits_(limits) {}

  Descriptor directory_;
  std::string path_;
  RecordLimits limits_;
};

}  // namespace halcyon::cli
