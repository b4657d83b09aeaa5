#include "cli/running/watched_jobs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "cli/kept/known_before.hpp"
#include "libprofile/live/place.hpp"

namespace halcyon::cli {
namespace {

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

Outcome<std::vector<live::JobNow>> WatchedJobs::jobs_here() {
  if (Status found = here_.find(); !found) return found.failure();
  std::vector<live::JobNow> jobs;
  std::vector<std::string> unreadable;
  for (const live::Reader& reader : here_.readers()) {
    Outcome<live::JobNow> now = reader.read();
    if (now) {
      jobs.push_back(std::move(*now));
      continue;
    }
    if (here_.which().is_one()) return now.failure();
    here_.complaints().add(now.failure().message);
    unreadable.push_back(reader.path());
  }
  for (const live::JobNow& job : jobs) {
    if (job.has_ended()) here_.close(job.file);
  }
  for (const std::string& path : unreadable) here_.close(path);
  return jobs;
}

Outcome<std::vector<live::JobNow>> WatchedJobs::jobs_published() {
  Outcome<std::vector<live::JobNow>> jobs = published_->look();
  if (!jobs) return jobs;
  // The files of a job stay when it has ended, or when those who published them were killed.
  std::erase_if(*jobs, [this](const live::JobNow& job) {
    const bool is_left_over = job.has_ended() || job.here.empty();
    return !is_wanted(here_.which(), job) || (is_left_over && !is_watched(job.file));
  });
  return jobs;
}

bool WatchedJobs::is_watched(const std::string& file) const {
  return std::any_of(watched_.begin(), watched_.end(),
                     [&file](const Watched& watched) { return watched.now.file == file && !watched.now.has_ended(); });
}

Status WatchedJobs::look() {
  Outcome<std::vector<live::JobNow>> jobs = published_ ? jobs_published() : jobs_here();
  if (!jobs) return jobs.failure();
  std::erase_if(watched_, [](const Watched& watched) { return watched.now.has_ended(); });
  std::vector<Watched> before = std::exchange(watched_, {});
  views_.clear();
  for (live::JobNow& now : *jobs) {
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&now](const Watched& watched) { return watched.now.file == now.file; });
    auto job = known == before.end() ? std::make_unique<WatchedJob>(known_parts_of(now)) : std::move(known->job);
    job->look(now);
    views_.push_back(job->view());
    watched_.push_back({std::move(job), std::move(now)});
  }
  return Done{};
}

std::vector<pid_t> WatchedJobs::ranks_of(std::size_t view) const {
  std::vector<pid_t> ranks;
  const auto add = [&ranks](const live::JobNow& now) {
    for (const live::RankNow& rank : now.here) {
      if (rank.is_alive) ranks.push_back(rank.process);
    }
  };
  if (!published_) {
    add(watched_[view].now);
    return ranks;
  }
  // The numbers of processes in a file from elsewhere are not to be trusted: the record on this host tells them.
  const Outcome<live::Reader> reader = live::Reader::open(live::directory_of_records() + "/" + watched_[view].now.file);
  if (!reader) return ranks;
  if (const Outcome<live::JobNow> now = reader->read_totals()) add(*now);
  return ranks;
}

}  // namespace halcyon::cli
