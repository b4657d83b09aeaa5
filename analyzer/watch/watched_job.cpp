#include "analyzer/watch/watched_job.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

constexpr double least_sample_seconds = 0.9;  // of a rate: shorter ones scatter
constexpr double history_seconds = 300.0;     // of rates
// An estimate takes some tenths of a second of CPU time, which the ranks may miss, and what is known so far changes
// ever more slowly.
constexpr double share_between_estimates = 0.5;   // of the time so far
constexpr double least_between_estimates = 10.0;  // s
constexpr double most_between_estimates = 60.0;   // s
constexpr std::size_t most_asked_ranks = 3;       // until one has segments that repeat
constexpr double slow_share = 0.075;              // of a look: from here on the verdict would not be green
constexpr double waits_seconds = 60.0;            // over which ranks are compared
constexpr double noticeable_wait = 0.02;          // of the time, by which a slow rank waits less than the others
constexpr std::size_t most_slowest = 4;           // more ranks than that are not a few
constexpr double least_standstill = 5.0;          // s
constexpr double standstill_of_segments = 10.0;   // longest usual segments
constexpr double least_stopped = 1.0;             // s without a boundary, where a rank is stopped or dead

double seconds_of(std::uint64_t nanoseconds) { return 1e-9 * static_cast<double>(nanoseconds); }
double seconds_between(std::uint64_t from, std::uint64_t to) { return to > from ? seconds_of(to - from) : 0.0; }

std::map<std::uint32_t, live::Totals> totals_of(const live::JobNow& now) {
  std::map<std::uint32_t, live::Totals> totals;
  for (const live::RankNow& rank : now.here) totals.emplace(rank.rank, rank.totals);
  return totals;
}

DurationHistogram histogram_of(const live::KindNow& kind) {
  DurationHistogram histogram{.below = kind.below,
                              .below_seconds = kind.below_seconds,
                              .above = kind.above,
                              .above_seconds = kind.above_seconds};
  for (std::uint32_t bin = 0; bin < live::bin_count; ++bin) {
    histogram.edges.push_back(1e-9 * live::lower_end_of(kind.first_bin + bin));
    histogram.counts.push_back(kind.bins[bin]);
  }
  histogram.edges.push_back(1e-9 * live::lower_end_of(kind.first_bin + live::bin_count));
  return histogram;
}

// Those that were not mixed with others for want of a place.
std::vector<live::KindNow> pure_kinds(const live::RankNow& rank) {
  std::vector<live::KindNow> kinds = rank.kinds;
  if (kinds.size() == live::most_kinds) kinds.pop_back();
  return kinds;
}

// The one that waited least in the last boundary, if all ranks tell of the same one.
std::optional<std::uint32_t> last_rank_of(const live::JobNow& now) {
  if (now.here.size() != now.ranks) return std::nullopt;
  const live::RankNow* last = &now.here.front();
  for (const live::RankNow& rank : now.here) {
    if (rank.totals.segments != last->totals.segments) return std::nullopt;
    if (rank.totals.last_wait < last->totals.last_wait) last = &rank;
  }
  return last->rank;
}

// What a rank did between two looks.
struct SinceThen {
  std::uint32_t rank = 0;
  std::size_t host = 0;
  double seconds = 0.0;
  double waited = 0.0;      // share of them in calls of MPI
  double on_devices = 0.0;  // in calls of devices
  double computed = 0.0;    // outside all calls
  double work = 0.0;        // per second
  bool work_is_time = true;
};

SinceThen since_then(const live::RankNow& rank, const live::Totals& then) {
  SinceThen since{.rank = rank.rank,
                  .host = rank.host,
                  .seconds = rank.totals.seconds - then.seconds,
                  .work = rank.totals.work - then.work,
                  .work_is_time = rank.totals.work_is_time != 0};
  if (!(since.seconds > 0.0)) return since;
  const auto share = [&](live::PartOfTime part) {
    return (rank.totals.parts[index_of(part)] - then.parts[index_of(part)]) / since.seconds;
  };
  using enum live::PartOfTime;
  since.waited = share(point_to_point) + share(collective) + share(boundary);
  since.on_devices = share(device);
  since.computed = share(computation);
  since.work /= since.seconds;
  return since;
}

double median_over(std::span<const SinceThen> ranks, double SinceThen::*what) {
  std::vector<double> values;
  for (const SinceThen& rank : ranks) values.push_back(rank.*what);
  return median_in_place(values);
}

double longest_usual_segment(const live::JobNow& now) {
  double longest = 0.0;
  for (const live::RankNow& rank : now.here) {
    for (const live::KindNow& kind : rank.kinds) {
      if (kind.segments > 0) longest = std::max(longest, kind.seconds / static_cast<double>(kind.segments));
    }
  }
  return longest;
}

}  // namespace

WatchedJob::WatchedJob(std::optional<KnownParts> known)
    : known_(std::move(known)), laws_(std::make_unique<DurationLaws>()), test_({.spends_alpha = true}) {}

void WatchedJob::look(const live::JobNow& now) {
  view_.job = now.job;
  view_.command = now.command;
  view_.ranks = now.ranks;
  look_at_hosts(now);
  // What is known stays as it was while nothing is heard of any host.
  if (now.here.empty() && !view_.stale_hosts.empty()) return;
  view_.ranks_read = static_cast<std::uint32_t>(now.here.size());
  view_.stopped_ranks.clear();
  view_.dead_ranks.clear();
  const live::RankNow* last = nullptr;
  double least_ago = 0.0;
  for (const live::RankNow& rank : now.here) {
    if (rank.is_stopped) view_.stopped_ranks.push_back(rank.rank);
    if (!rank.is_alive && rank.state != live::State::ended) view_.dead_ranks.push_back(rank.rank);
    if (rank.totals.segments == 0) continue;
    const double ago = seconds_between(rank.totals.last_end, now.hosts[rank.host].read_monotonic);
    if (last != nullptr && ago >= least_ago) continue;
    last = &rank;
    least_ago = ago;
  }
  if (last != nullptr) {
    view_.last_boundary_seconds_ago = least_ago;
    view_.last_place = last->last_place;
    view_.last_rank = last_rank_of(now);
  }
  look_at_interference(now);
  look_at_rate(now);
  look_at_rest(now);
  look_at_slowest(now);
  view_.state = state_of(now);
  if (view_.state == JobState::stands_still && view_.progress_rate) view_.progress_rate = 0.0;
}

void WatchedJob::look_at_hosts(const live::JobNow& now) {
  view_.hosts.clear();
  view_.stale_hosts.clear();
  for (const live::HostNow& host : now.hosts) {
    view_.hosts.push_back(host.name);
    if (host.stale_seconds) view_.stale_hosts.push_back({host.name, *host.stale_seconds});
    view_.elapsed_seconds = std::max(view_.elapsed_seconds, seconds_between(host.start_monotonic, host.read_monotonic));
  }
}

// All ranks end their segments together, so each of them tells the same.
void WatchedJob::look_at_interference(const live::JobNow& now) {
  const double between =
      std::clamp(share_between_estimates * view_.elapsed_seconds, least_between_estimates, most_between_estimates);
  if (last_estimate_ && view_.elapsed_seconds - *last_estimate_ < between) return;
  for (std::size_t i = 0; i < now.here.size() && i < most_asked_ranks; ++i) {
    if (judge(now.here[i])) return;
  }
}

bool WatchedJob::judge(const live::RankNow& rank) {
  const std::vector<live::KindNow> kinds = pure_kinds(rank);
  std::vector<KindOfSegments> histograms;
  for (const live::KindNow& kind : kinds) histograms.push_back({kind.seconds, histogram_of(kind)});
  const auto so_far = interference_so_far(histograms, rank.totals.seconds, *laws_);
  if (!so_far) return false;
  last_estimate_ = view_.elapsed_seconds;
  view_.interference = so_far;
  double undisturbed = 0.0;
  double usual = 0.0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (!so_far->kinds[k].is_judged) continue;
    const auto segments = static_cast<double>(kinds[k].segments);
    undisturbed += segments * so_far->kinds[k].baseline;
    usual += segments * kinds[k].usual_seconds;
  }
  if (usual > 0.0) undisturbed_of_usual_ = undisturbed / usual;
  return true;
}

void WatchedJob::look_at_rate(const live::JobNow& now) {
  if (at_last_rate_.empty()) {
    at_last_rate_ = totals_of(now);
    return;
  }
  std::vector<double> seconds;
  std::vector<double> rates;
  std::vector<double> segments;  // per second
  for (const live::RankNow& rank : now.here) {
    const auto before = at_last_rate_.find(rank.rank);
    if (before == at_last_rate_.end() || rank.totals.segments <= before->second.segments) continue;
    if (before->second.segments == 0) continue;  // what came before the first boundary is not known
    const double passed = seconds_between(before->second.last_end, rank.totals.last_end) -
                          (rank.totals.suspended_seconds - before->second.suspended_seconds);
    const double done = rank.totals.usual_seconds - before->second.usual_seconds;
    if (!(passed > 0.0) || done < 0.0) continue;
    seconds.push_back(passed);
    rates.push_back(done / passed);
    segments.push_back(static_cast<double>(rank.totals.segments - before->second.segments) / passed);
  }
  if (rate_.rate()) view_.progress_rate = *rate_.rate() * undisturbed_of_usual_;
  if (seconds.empty()) {
    const bool all_have_begun = std::all_of(now.here.begin(), now.here.end(),
                                            [](const live::RankNow& rank) { return rank.totals.segments > 0; });
    const bool none_had = std::all_of(at_last_rate_.begin(), at_last_rate_.end(),
                                      [](const auto& before) { return before.second.segments == 0; });
    if (all_have_begun && none_had) at_last_rate_ = totals_of(now);
    return;
  }
  const double passed = median_in_place(seconds);
  if (passed < least_sample_seconds) return;
  const double rate = median_in_place(rates);  // usual seconds per second
  view_.segments_per_second = median_in_place(segments);
  at_last_rate_ = totals_of(now);
  rate_.add({.seconds = passed, .units = rate * passed});
  view_.progress_rate = *rate_.rate() * undisturbed_of_usual_;
  view_.history.push_back({view_.elapsed_seconds, rate * undisturbed_of_usual_});
  std::erase_if(view_.history,
                [this](const RateAt& at) { return at.seconds < view_.elapsed_seconds - history_seconds; });
  if (!view_.interference) return;
  switch (test_.add(rate * undisturbed_of_usual_ < 1.0 - slow_share)) {
    case Judgment::poor: view_.is_slower_than_usual = true; break;
    case Judgment::good: view_.is_slower_than_usual = false; break;
    case Judgment::undecided: break;
  }
}

void WatchedJob::look_at_rest(const live::JobNow& now) {
  view_.left_seconds.reset();
  if (!known_ || now.here.empty()) return;
  std::uint64_t done = now.here.front().totals.segments;
  for (const live::RankNow& rank : now.here) done = std::min(done, rank.totals.segments);
  view_.left_seconds = best_seconds_after(*known_, done);
  view_.known_runs = known_->runs;
}

void WatchedJob::look_at_slowest(const live::JobNow& now) {
  while (waits_.size() > 1 && waits_[1].at <= view_.elapsed_seconds - waits_seconds) waits_.pop_front();
  const std::map<std::uint32_t, live::Totals> none;
  const std::map<std::uint32_t, live::Totals>& before = waits_.empty() ? none : waits_.front().totals;
  std::vector<SinceThen> ranks;
  for (const live::RankNow& rank : now.here) {
    const auto at = before.find(rank.rank);
    const SinceThen since = since_then(rank, at == before.end() ? live::Totals{} : at->second);
    if (since.seconds > 0.0) ranks.push_back(since);
  }
  // A minute ago is compared with now; looks in between only have to be near enough to that.
  constexpr double seconds_between = 5.0;
  if (waits_.empty() || view_.elapsed_seconds - waits_.back().at >= seconds_between) {
    waits_.push_back({view_.elapsed_seconds, totals_of(now)});
  }
  if (ranks.empty()) return;
  const double middle = median_over(ranks, &SinceThen::waited);
  view_.waiting_percent = 100.0 * middle;
  view_.device_percent = 100.0 * median_over(ranks, &SinceThen::on_devices);
  view_.slowest_ranks.clear();
  view_.slowest_hosts.clear();
  view_.slowest.reset();
  std::ranges::sort(ranks, {}, &SinceThen::waited);
  const auto slow = [middle](const SinceThen& rank) { return rank.waited <= middle - noticeable_wait; };
  const auto others = std::ranges::partition_point(ranks, slow);
  const std::span slowest(ranks.begin(), others);
  if (slowest.empty() || slowest.size() > most_slowest) return;
  const double computed = median_over({others, ranks.end()}, &SinceThen::computed);
  const double work = median_over({others, ranks.end()}, &SinceThen::work);
  const SinceThen& first = slowest.front();
  if (computed > 0.0 && work > 0.0) view_.slowest = {first.computed / computed, first.work / work, first.work_is_time};
  for (const SinceThen& rank : slowest) {
    view_.slowest_ranks.push_back(rank.rank);
    const std::string& host = now.hosts[rank.host].name;
    const bool is_named =
        std::find(view_.slowest_hosts.begin(), view_.slowest_hosts.end(), host) != view_.slowest_hosts.end();
    if (!is_named) view_.slowest_hosts.push_back(host);
  }
}

JobState WatchedJob::state_of(const live::JobNow& now) const {
  if (now.here.empty()) return JobState::starting;
  if (now.has_ended()) return JobState::ended;
  const bool is_suspended = std::any_of(now.here.begin(), now.here.end(),
                                        [](const live::RankNow& rank) { return rank.state == live::State::suspended; });
  if (is_suspended) return JobState::suspended;
  const double quiet_for = view_.last_boundary_seconds_ago.value_or(view_.elapsed_seconds);
  const bool cannot_go_on = !view_.stopped_ranks.empty() || !view_.dead_ranks.empty();
  if (cannot_go_on && quiet_for >= least_stopped) return JobState::stands_still;
  if (!view_.last_boundary_seconds_ago) return JobState::starting;
  const double limit = std::max(least_standstill, standstill_of_segments * longest_usual_segment(now));
  return quiet_for >= limit ? JobState::stands_still : JobState::running;
}

}  // namespace halcyon
