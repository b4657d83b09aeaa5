#include "cli/running/records_here.hpp"

#include <algorithm>
#include <filesystem>

#include "libprofile/system/process_facts.hpp"

namespace halcyon::cli {
namespace {

// Whether one of its ranks is this process or descends from it.
bool belongs_to(const live::JobNow& job, pid_t process) {
  return std::any_of(job.here.begin(), job.here.end(),
                     [process](const live::RankNow& rank) { return descends_from(rank.process, process); });
}

}  // namespace

bool is_wanted(const WhichJobs& which, const live::JobNow& job) {
  if (!which.job.empty()) {
    return job.job == which.job || std::filesystem::path(job.file).filename() == which.job || job.file == which.job;
  }
  return which.process == 0 || belongs_to(job, which.process);
}

void RecordsHere::open(const std::string& path) {
  const bool is_open = std::any_of(readers_.begin(), readers_.end(),
                                   [&path](const live::Reader& reader) { return reader.path() == path; });
  if (is_open) return;
  Outcome<live::Reader> reader = live::Reader::open(path);
  if (!reader) return complaints_.add(path + ": " + reader.failure().message);
  const Outcome<live::JobNow> now = reader->read_totals();
  if (!now) return complaints_.add(now.failure().message);
  if (is_wanted(which_, *now) && !now->has_ended()) readers_.push_back(std::move(*reader));
}

Status RecordsHere::find() {
  const Outcome<std::vector<std::string>> found = live::find_records();
  if (!found) return found.failure();
  if (which_.is_one() && had_one_) return Done{};
  for (const std::string& path : *found) open(path);
  had_one_ = !readers_.empty();
  if (which_.is_one() && had_one_) complaints_.take();  // of records that nobody asked for
  return Done{};
}

void RecordsHere::close(const std::string& path) {
  std::erase_if(readers_, [&path](const live::Reader& reader) { return reader.path() == path; });
}

}  // namespace halcyon::cli
