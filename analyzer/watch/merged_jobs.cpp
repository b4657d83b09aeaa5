#include "analyzer/watch/merged_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "libprofile/system/plural.hpp"

namespace halcyon {
namespace {

constexpr double most_seconds = 10.0;  // a host's file is replaced each second

bool is_stale(const HostReading& reading) {
  return reading.seconds_ago > most_seconds && !reading.published.job.has_ended();
}

/// A job, and where it was read.
struct Merging {
  live::JobNow now;
  std::string first_file;
  std::unordered_map<std::uint32_t, std::string> file_of_rank;

  explicit Merging(const live::PublishedJob& first)
      : now{.file = first.record,
            .job = first.job.job,
            .hosts = {},
            .command = first.job.command,
            .ranks = first.job.ranks,
            .launcher = first.job.launcher,
            .start_time = first.job.start_time},
        first_file(first.job.file) {}

  /// Why the file cannot be of this job.
  std::optional<std::string> objection_to(const live::JobNow& other) const {
    if (other.job != now.job) return fmt::format("it is of job '{}', {} of job '{}'", other.job, first_file, now.job);
    if (other.ranks != now.ranks) {
      return fmt::format("its job has {}, that of {} has {}", plural(other.ranks, "rank"), first_file, now.ranks);
    }
    return std::nullopt;
  }

  /// Adds the ranks of a host. False, and none of them, if one is there already; `twice` says which.
  bool add(live::JobNow&& host, std::string& twice) {
    std::unordered_map<std::uint32_t, std::string> ranks;
    for (const live::RankNow& rank : host.here) {
      const auto known = file_of_rank.find(rank.rank);
      if (known == file_of_rank.end() && ranks.emplace(rank.rank, host.file).second) continue;
      twice = fmt::format("its rank {} is in {}, too", rank.rank,
                          known == file_of_rank.end() ? "it a second time" : known->second);
      return false;
    }
    file_of_rank.merge(ranks);
    for (live::RankNow& rank : host.here) {
      rank.host = now.hosts.size();
      now.here.push_back(std::move(rank));
    }
    now.hosts.push_back(std::move(host.hosts.front()));
    return true;
  }
};

}  // namespace

MergedJobs merged(std::vector<HostReading> readings) {
  // What is new counts more than what was left behind.
  std::stable_sort(readings.begin(), readings.end(),
                   [](const HostReading& a, const HostReading& b) { return is_stale(a) < is_stale(b); });
  MergedJobs result;
  std::map<std::string, Merging> jobs;
  for (HostReading& reading : readings) {
    Merging& job = jobs.try_emplace(reading.published.record, reading.published).first->second;
    const bool is_old = is_stale(reading);
    live::JobNow host = std::move(reading.published.job);
    if (const std::optional<std::string> objection = job.objection_to(host)) {
      result.complaints.push_back(fmt::format("{} is left out: {}", host.file, *objection));
      continue;
    }
    if (is_old) {
      host.hosts.front().stale_seconds = reading.seconds_ago;
      job.now.hosts.push_back(std::move(host.hosts.front()));
      continue;
    }
    const std::string file = host.file;
    std::string twice;
    if (!job.add(std::move(host), twice)) {
      result.complaints.push_back(fmt::format("{} is left out: {}", file, twice));
    }
  }
  for (auto& [record, job] : jobs) result.jobs.push_back(std::move(job.now));
  return result;
}

}  // namespace halcyon
