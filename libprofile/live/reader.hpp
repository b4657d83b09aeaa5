// Reads live records. Their bytes are copied by read(2), not mapped: if a file shrinks meanwhile, this is an error and
// does not kill the reader.
#pragma once

#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"
#include "libprofile/live/place.hpp"
#include "libprofile/live/publication.hpp"
#include "libprofile/live/snapshot.hpp"

namespace halcyon::live {

/// One record, open for reading.
class Reader {
 public:
  static Outcome<Reader> open(const std::string& path);

  /// The record as it is now. Ranks may join between two calls. Fails if the record contradicts itself.
  Outcome<JobNow> read() const { return read(Depth::kinds); }
  /// The same without the kinds of segments: nine tenths of the bytes.
  Outcome<JobNow> read_totals() const { return read(Depth::totals); }
  /// The same as read(), with a copy of the bytes for readers on other hosts.
  Outcome<Publication> read_to_publish() const;

  const std::string& path() const { return path_; }

 private:
  enum class Depth : bool { totals, kinds };
  Outcome<JobNow> read(Depth depth, Publication* copy = nullptr) const;
  Reader(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
};

/// Paths of this user's records on this host, in the order of their names. Removes what no running job has.
/// No record, or no directory, is an empty list; a directory that others can write is a failure.
Outcome<std::vector<std::string>> find_records(const std::string& root = shared_memory());

}  // namespace halcyon::live
