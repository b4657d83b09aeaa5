#include "cli/running/watched_jobs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/kept/known_before.hpp"
#include "libprofile/system/process_facts.hpp"

namespace halcyon::cli {
namespace {

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

StoppedRanks stopped_ranks(const live::JobNow& now) {
  StoppedRanks stopped;
  for (const live::RankNow& rank : now.here) {
    if (!rank.is_alive) continue;
    const std::optional<ProcessFacts> facts = facts_of(rank.process);
    if (facts && (facts->state == 'T' || facts->state == 't')) stopped.push_back(rank.rank);
  }
  return stopped;
}

// The last known work of this command that has not fewer segments.
std::optional<KnownParts> known_parts_of(const live::JobNow& job) {
  const Outcome<KnownBefore> known = KnownBefore::open(RecordStore::Use::reads);
  if (!known) return std::nullopt;
  std::uint64_t done = 0;
  for (const live::RankNow& rank : job.here) done = std::max(done, rank.totals.segments);
  for (const KnownBefore::NamedWork& work : known->works()) {
    const Circumstances& circumstances = work.work.circumstances;
    const bool is_same = static_cast<std::uint32_t>(circumstances.ranks) == job.ranks &&
                         circumstances.command.substr(0, live::most_command - 1) == job.command;
    if (is_same && work.work.parts && work.work.parts->segments >= done) return work.work.parts;
  }
  return std::nullopt;
}

}  // namespace

void give_way() {
  constexpr int low = 5;  // a third of the usual share of a CPU: at the lowest, keys would wait where ranks spin
  setpriority(PRIO_PROCESS, 0, low);  // on Linux, that of the thread
}

bool belongs_to(const live::JobNow& job, pid_t process) {
  return std::any_of(job.here.begin(), job.here.end(),
                     [process](const live::RankNow& rank) { return descends_from(rank.process, process); });
}

bool WatchedJobs::is_wanted(const live::JobNow& now) const {
  if (!which_.job.empty()) {
    return now.job == which_.job || std::filesystem::path(now.file).filename() == which_.job || now.file == which_.job;
  }
  return which_.process == 0 || belongs_to(now, which_.process);
}

void WatchedJobs::complain(const std::string& about) {
  if (has(told_, about)) return;
  told_.push_back(about);
  complaints_.push_back(about);
}

void WatchedJobs::find(const std::string& path) {
  const bool is_known = std::any_of(records_.begin(), records_.end(),
                                    [&path](const Record& record) { return record.reader.path() == path; });
  if (is_known) return;
  Outcome<live::Reader> reader = live::Reader::open(path);
  if (!reader) return complain(path + ": " + reader.failure().message);
  const Outcome<live::JobNow> now = reader->read();
  if (!now) return complain(now.failure().message);
  if (!is_wanted(*now)) return;
  records_.push_back({.reader = std::move(*reader), .job = std::make_unique<WatchedJob>(known_parts_of(*now))});
}

Status WatchedJobs::look() {
  const bool had_one = !records_.empty();
  std::erase_if(records_, [](const Record& record) { return record.has_ended; });
  const Outcome<std::vector<std::string>> found = live::find_records();
  if (!found) return found.failure();
  if (!(which_.is_one() && had_one)) {
    for (const std::string& path : *found) find(path);
  }
  if (which_.is_one() && !records_.empty()) complaints_.clear();  // of records that nobody asked for
  views_.clear();
  ranks_.clear();
  for (Record& record : records_) {
    Outcome<live::JobNow> now = record.reader.read();
    if (!now) {
      if (which_.is_one()) return now.failure();
      complain(now.failure().message);
      record.has_ended = true;
      continue;
    }
    record.now = std::move(*now);
    record.job->look(record.now, stopped_ranks(record.now));
    views_.push_back(record.job->view());
    record.has_ended = views_.back().state == JobState::ended;
    std::vector<pid_t>& ranks = ranks_.emplace_back();
    for (const live::RankNow& rank : record.now.here) {
      if (rank.is_alive) ranks.push_back(rank.process);
    }
  }
  return Done{};
}

std::vector<pid_t> WatchedJobs::ranks_of(std::size_t view) const { return ranks_[view]; }

}  // namespace halcyon::cli
