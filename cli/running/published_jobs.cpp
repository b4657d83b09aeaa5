#include "cli/running/published_jobs.hpp"

#include <algorithm>
#include <utility>

#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::cli {

void PublishedJobs::read(const std::string& name) {
  Outcome<live::PublishedJob> published = live::read_publication(directory_, name);
  if (!published) return complaints_.add(published.failure().message);
  const auto known =
      std::find_if(files_.begin(), files_.end(), [&name](const File& file) { return file.name == name; });
  const double now = monotonic_seconds();
  if (known != files_.end()) {
    if (known->last.published_at != published->published_at) known->replaced_at = now;
    known->last = std::move(*published);
    return;
  }
  // The clocks of hosts that keep the time of day differ by little. If they do not keep it, the next file tells.
  const std::uint64_t today = nanoseconds_of(CLOCK_REALTIME);
  const double age =
      today > published->published_at ? 1e-9 * static_cast<double>(today - published->published_at) : 0.0;
  files_.push_back({name, std::move(*published), now - age});
}

Outcome<std::vector<live::JobNow>> PublishedJobs::look() {
  const Outcome<std::vector<std::string>> names = live::find_publications(directory_);
  if (!names) return names.failure();
  for (const std::string& name : *names) read(name);
  std::vector<HostReading> readings;
  const double now = monotonic_seconds();
  // A file may be missing in a list that is made while it is replaced.
  constexpr double forgotten_after = 60.0;  // s
  std::erase_if(files_, [&](const File& file) {
    return now - file.replaced_at > forgotten_after &&
           std::find(names->begin(), names->end(), file.name) == names->end();
  });
  for (const File& file : files_) readings.push_back({file.last, now - file.replaced_at});
  MergedJobs jobs = merged(std::move(readings));
  for (const std::string& complaint : jobs.complaints) complaints_.add(complaint);
  return std::move(jobs.jobs);
}

}  // namespace halcyon::cli
