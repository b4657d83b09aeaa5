// What `halcyon watch` shows of a job whose files somebody has changed, look by look: possible figures, and text that
// neither breaks a line nor steers a terminal.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>

#include "analyzer/watch/condition.hpp"
#include "analyzer/watch/merged_jobs.hpp"
#include "analyzer/watch/watched_job.hpp"
#include "report/json.hpp"
#include "report/live.hpp"
#include "report/live_screen.hpp"
#include "tests/fuzz/live_files.hpp"
#include "tests/fuzz/steering.hpp"

namespace {

using namespace halcyon;

constexpr std::size_t at_header = sizeof(live::PublicationHeader);
constexpr std::size_t at_ranks = at_header + sizeof(live::Header);

template <class T>
T taken(const std::string& content, std::size_t at) {
  T value;
  std::memcpy(&value, &content[at], sizeof value);
  return value;
}

template <class T>
void add(std::string& content, std::size_t at, T more) {
  const T value = taken<T>(content, at) + more;
  std::memcpy(&content[at], &value, sizeof value);
}

// Where the ranks of a good file begin.
std::vector<std::size_t> ranks_in(const std::string& content) {
  std::vector<std::size_t> ranks;
  for (std::size_t at = at_ranks; at < content.size();) {
    ranks.push_back(at);
    const auto kinds = taken<live::PublishedRank>(content, at).kinds;
    at += sizeof(live::PublishedRank) + offsetof(live::Slot, kinds) + kinds * sizeof(live::Kind);
  }
  return ranks;
}

/// A file of one of the job's hosts, which changes from look to look.
class HostFile {
 public:
  explicit HostFile(const std::string& content) : content_(content), ranks_(ranks_in(content)) {
    add(content_, at_header + offsetof(live::Header, start_monotonic), -read_monotonic() + started);
    add(content_, offsetof(live::PublicationHeader, read_monotonic), -read_monotonic() + started);
    for (const std::size_t rank : ranks_) tell(rank, 1, started);
  }

  /// The ranks run as usual for so long.
  void run(std::uint64_t seconds) {
    constexpr std::uint64_t second = 1'000'000'000;
    add(content_, offsetof(live::PublicationHeader, read_monotonic), seconds * second);
    for (const std::size_t rank : ranks_) tell(rank, seconds, seconds * second);
  }

  void change(fuzz::Steering& steering) {
    const std::size_t rank = ranks_[steering.below(ranks_.size())];
    const std::size_t slot = rank + sizeof(live::PublishedRank);
    std::size_t at = 0;
    switch (steering.below(6)) {
      case 0: at = steering.value<std::uint32_t>(); break;
      case 1: at = sizeof(std::uint64_t) * steering.below(at_ranks / sizeof(std::uint64_t)); break;
      case 2: at = rank; break;
      case 3:
        at = slot + sizeof(std::uint64_t) * steering.below(offsetof(live::Slot, places) / sizeof(std::uint64_t));
        break;
      default:
        at = slot + offsetof(live::Slot, kinds) + sizeof(live::Kind) * steering.below(3) +
             sizeof(std::uint64_t) * steering.below(offsetof(live::Kind, bins) / sizeof(std::uint64_t) + 8);
    }
    fuzz::put_anything(content_, at, steering);
  }

  const std::string& content() const { return content_; }

 private:
  static constexpr std::uint64_t started = 1'000'000'000'000;  // ns

  std::uint64_t read_monotonic() const {
    return taken<std::uint64_t>(content_, offsetof(live::PublicationHeader, read_monotonic));
  }
  void tell(std::size_t rank, std::uint64_t segments, std::uint64_t nanoseconds) {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t totals =
          rank + sizeof(live::PublishedRank) + offsetof(live::Slot, totals) + i * sizeof(live::Totals);
      add(content_, totals + offsetof(live::Totals, segments), segments);
      add(content_, totals + offsetof(live::Totals, last_end), nanoseconds);
      add(content_, totals + offsetof(live::Totals, seconds), static_cast<double>(segments));
      add(content_, totals + offsetof(live::Totals, usual_seconds), static_cast<double>(segments));
    }
  }

  std::string content_;
  std::vector<std::size_t> ranks_;
};

void check(const JobView& view) {
  fuzz::promise(view.elapsed_seconds >= 0.0 && std::isfinite(view.elapsed_seconds), "a possible time");
  fuzz::promise(!view.progress_rate || (*view.progress_rate >= 0.0 && std::isfinite(*view.progress_rate)),
                "a possible rate");
  fuzz::promise(!view.last_boundary_seconds_ago || std::isfinite(*view.last_boundary_seconds_ago), "a possible age");
  fuzz::promise(view.ranks_read <= view.ranks, "no more ranks than the job has");
  if (!view.interference) return;
  const auto& [low, high] = view.interference->interval_percent;
  fuzz::promise(0.0 <= low && low <= view.interference->percent && view.interference->percent <= high && high <= 100.0,
                "a possible interference", interference_words(view));
}

void show(std::vector<JobView> views) {
  for (const JobView& view : views) {
    check(view);
    for (const Watched watched : {Watched::interference, Watched::rate, Watched::standstill}) {
      const Condition condition{.watched = watched, .limit = 30.0};
      condition.holds(view);
      fuzz::promise_one_line(text_of(condition) + value_text(watched, view));
    }
  }
  fuzz::promise_legible(jobs_text(views));
  fuzz::promise_legible(jobs_openmetrics(views));
  fuzz::promise_legible(to_text(jobs_json(views)));
  for (const JobOrder order : {JobOrder::job, JobOrder::rate, JobOrder::interference, JobOrder::elapsed}) {
    sort_jobs(views, order);
    for (const std::string& line : live_screen(views, {.columns = 90, .rows = 30, .order = order})) {
      if (!line.empty()) fuzz::promise_one_line(line);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // With few segments, nothing is estimated: that is hundreds of times as fast, and so most inputs are of that kind.
  static const std::array<std::array<std::string, 2>, 2> good = [] {
    std::array<std::array<std::string, 2>, 2> files;
    for (const std::size_t many : {0, 1}) {
      files[many][0] = fuzz::good_publication(fuzz::good_record({0, 1}, 4, many == 0 ? 4 : 40));
      files[many][1] = fuzz::good_publication(fuzz::good_record({2, 3}, 4, 4));
    }
    return files;
  }();
  static const fuzz::PublicationDirectory directory;

  fuzz::Steering steering(data, size);
  const auto& [first, second] = good[steering.byte() == 'M' ? 1 : 0];
  std::array<HostFile, 2> hosts{HostFile(first), HostFile(second)};
  std::map<std::string, WatchedJob> watched;
  for (int look = 0; look < 3; ++look) {
    std::vector<HostReading> readings;
    for (HostFile& host : hosts) {
      host.run(steering.below(32));
      for (std::size_t changes = steering.below(4); changes > 0; --changes) host.change(steering);
      fuzz::write_private(directory.path + "/" + directory.name, host.content());
      Outcome<live::PublishedJob> published = live::read_publication(directory.path, directory.name);
      if (published) {
        readings.push_back({std::move(*published), 0.1 * static_cast<double>(steering.byte())});
      } else {
        fuzz::promise_one_line(published.failure().message);
      }
    }
    const MergedJobs jobs = merged(std::move(readings));
    std::vector<JobView> views;
    for (const live::JobNow& now : jobs.jobs) {
      WatchedJob& job = watched[now.file];
      job.look(now);
      views.push_back(job.view());
    }
    show(std::move(views));
  }
  return 0;
}
