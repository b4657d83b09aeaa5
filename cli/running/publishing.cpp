#include "cli/running/publishing.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace halcyon::cli {
namespace {

constexpr int milliseconds_between_files = 1000;

// Publishes what is open. The jobs that have ended are closed then. Fails if nothing was ever written: later, a file
// system may be away for a while.
Status publish_once(RecordsHere& records, const std::string& directory, bool& has_written) {
  std::vector<std::string> over;
  for (const live::Reader& reader : records.readers()) {
    const Outcome<live::Publication> publication = reader.read_to_publish();
    if (!publication) {
      if (records.which().is_one()) return publication.failure();
      records.complaints().add(publication.failure().message);
      over.push_back(reader.path());
      continue;
    }
    if (const Status written = publication->write_to(directory); written) {
      has_written = true;
    } else if (has_written) {
      records.complaints().add(written.failure().message);
      continue;
    } else {
      return written;
    }
    if (publication->job.has_ended()) over.push_back(reader.path());
  }
  for (const std::string& path : over) records.close(path);
  return Done{};
}

}  // namespace

Status publish_jobs(const WhichJobs& which, const std::string& directory, bool goes_on,
                    const std::function<void(const std::string& line)>& tell) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failure{"cannot create " + directory + ": " + std::strerror(errno)};
  }
  RecordsHere records(which);
  bool has_written = false;
  for (bool had_one = false;;) {
    if (Status found = records.find(); !found) return found;
    for (const std::string& line : records.complaints().take()) tell(line);
    had_one = had_one || !records.readers().empty();
    if (Status published = publish_once(records, directory, has_written); !published) return published;
    if (had_one && records.readers().empty() && !goes_on) return Done{};
    poll(nullptr, 0, milliseconds_between_files);
  }
}

}  // namespace halcyon::cli
