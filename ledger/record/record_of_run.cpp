#include "ledger/record/record_of_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "analyzer/attribution/divided_segments.hpp"
#include "analyzer/groups/timeline.hpp"
#include "libprofile/format/beside_peers.hpp"
#include "libprofile/system/fnv1a.hpp"
#include "libprofile/system/legible.hpp"
#include "libprofile/system/utc.hpp"

namespace halcyon::ledger {
namespace {

constexpr std::size_t most_text = 2000;  // Numerics: bytes that are kept of a text, such as a command

// Numerics: times are kept to a microsecond, in which sums of many slices take half of the room.
double in_microseconds(double seconds) { return std::round(seconds * 1e6) * 1e-6; }
std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(std::clamp(value, 0.0, 9e18))); }

// Legible, which makes it UTF-8 without a zero: databases take nothing else.
std::string text(const std::string& of_profile) {
  std::string kept = legible(of_profile);
  if (kept.size() <= most_text) return kept;
  std::size_t end = most_text;
  while ((static_cast<unsigned char>(kept[end]) & 0xc0u) == 0x80u) --end;  // within a character
  return kept.substr(0, end) + "…";
}

std::string name_of_hash(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::int64_t start_of(const Profile& profile) {
  if (profile.start_nanoseconds > 0) return profile.start_nanoseconds;
  return seconds_since_1970(profile.start_time).value_or(0) * nanoseconds_of_a_second;
}

WorkRow work_of(const Profile& profile, std::size_t hosts, const std::string& started) {
  const std::string program = started.empty() ? profile.command.substr(0, profile.command.find(' ')) : started;
  return {.work = name_of_hash(fnv1a(fmt::format("{}\n{}\n{}", profile.command, profile.ranks, hosts))),
          .program = text(program.substr(program.rfind('/') + 1)),
          .command = text(profile.command)};
}

/// The hosts of a run by number, in the order of ranks.
struct Hosts {
  std::vector<std::string> names;
  std::vector<std::size_t> of_rank;  // (ranks) names.size() for a rank of which nothing is known

  explicit Hosts(const Profile& profile) : names(profile.hosts()) {
    for (const std::string& host : profile.rank_host) {
      of_rank.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), host) - names.begin()));
    }
  }
};

// (hosts) sums over the ranks of each.
std::vector<std::int64_t> totals_of_hosts(const Profile& profile, Feature feature, const Hosts& hosts) {
  std::vector<double> sums(hosts.names.size() + 1, 0.0);
  const std::vector<std::uint64_t>& totals = profile.totals[index_of(feature)];
  for (std::size_t rank = 0; rank < totals.size(); ++rank)
    sums[hosts.of_rank[rank]] += static_cast<double>(totals[rank]);
  std::vector<std::int64_t> totals_by_host;
  for (const double sum : sums) totals_by_host.push_back(whole(sum));
  return totals_by_host;
}

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

// The pace of each host, relative to that of the peers of its ranks. A slow host takes as much more CPU time as it
// takes time: where that is the measure of work, all hosts have the same pace, and nothing is known of any.
void set_pace(const Profile& profile, const Hosts& hosts, std::vector<HostRow>& rows) {
  if (profile.counter == "cpu") return;
  struct Eighth {
    double computing = 0.0;
    double at_pace = 0.0;
  };
  std::vector<std::array<Eighth, RankSections::eighths>> times(rows.size());
  for_each_beside_peers(profile.sections, [&](const BesidePeers& beside) {
    const std::size_t host = hosts.of_rank[beside.rank];
    if (host >= rows.size()) return;
    Eighth& eighth = times[host][beside.section % RankSections::eighths];
    eighth.computing += beside.computing;
    eighth.at_pace += beside.at_pace;
  });
  for (std::size_t host = 0; host < rows.size(); ++host) {
    std::vector<double> paces;
    for (const Eighth& eighth : times[host]) {
      if (eighth.computing > 0.0 && eighth.at_pace > 0.0) paces.push_back(std::log(eighth.computing / eighth.at_pace));
    }
    if (paces.size() < 2) continue;
    const auto count = static_cast<double>(paces.size());
    const double mean = std::accumulate(paces.begin(), paces.end(), 0.0) / count;
    double squares = 0.0;
    for (const double pace : paces) squares += (pace - mean) * (pace - mean);
    rows[host].log_pace = mean;
    rows[host].log_pace_error = std::sqrt(squares / (count - 1.0) / count);
  }
}

std::vector<HostRow> rows_of_hosts(const Profile& profile, const Hosts& hosts, const Breakdown& breakdown) {
  std::vector<HostRow> rows(hosts.names.size());
  std::map<std::string, double> excess;
  for (const HostShare& share : breakdown.hosts) excess[share.host] = share.seconds;
  const std::vector<double>& waits = profile.evidence[index_of(Evidence::cpu_wait)];
  for (std::size_t rank = 0; rank < hosts.of_rank.size(); ++rank) {
    if (hosts.of_rank[rank] == rows.size()) continue;
    HostRow& row = rows[hosts.of_rank[rank]];
    if (row.ranks++ == 0 && !profile.rank_cpu.empty()) row.cpu = text(profile.rank_cpu[rank]);
    if (waits.empty() || std::isnan(waits[rank])) continue;
    row.cpu_wait_seconds = row.cpu_wait_seconds.value_or(0.0) + waits[rank];
  }
  const std::vector<double> stolen = profile.by_host(Evidence::steal);
  const std::vector<double> retransmissions = profile.by_host(Evidence::tcp_retransmissions);
  const std::vector<std::int64_t> sent = totals_of_hosts(profile, Feature::bytes_sent, hosts);
  const std::vector<std::int64_t> received = totals_of_hosts(profile, Feature::bytes_received, hosts);
  const std::vector<std::int64_t> read = totals_of_hosts(profile, Feature::bytes_read, hosts);
  const std::vector<std::int64_t> written = totals_of_hosts(profile, Feature::bytes_written, hosts);
  for (std::size_t host = 0; host < rows.size(); ++host) {
    HostRow& row = rows[host];
    row.host = text(hosts.names[host]);
    row.excess_seconds = in_microseconds(excess[hosts.names[host]]);
    if (!stolen.empty()) row.stolen_seconds = known(stolen[host]);
    if (!retransmissions.empty()) row.tcp_retransmissions = known(retransmissions[host]);
    row.bytes_sent = sent[host];
    row.bytes_received = received[host];
    row.bytes_read = read[host];
    row.bytes_written = written[host];
  }
  set_pace(profile, hosts, rows);
  return rows;
}

std::vector<GroupRow> rows_of_groups(const Profile& profile, const Grouping& grouping, const Analysis& analysis) {
  std::vector<GroupRow> rows;
  for (const JudgedGroup& judged : analysis.judged) {
    const std::span<const std::uint32_t> members = grouping.members(judged.group);
    GroupRow row{.site = text(profile.sites[site_of(profile, members.front())]),
                 .segments = static_cast<std::int64_t>(members.size()),
                 .baseline_seconds = std::max(0.0, judged.baseline_seconds)};
    for (const std::uint32_t segment : members) {
      row.seconds += static_cast<double>(profile.duration[segment]);
      row.excess_seconds += static_cast<double>(analysis.excess[segment]);
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const GroupRow& a, const GroupRow& b) { return a.seconds > b.seconds; });
  rows.resize(std::min(rows.size(), most_groups));
  return rows;
}

/// The slices of a run: multiples of their length since 1970, so that those of different runs match.
struct SlicedTime {
  std::int64_t step = 1;
  std::int64_t first = 0;     // s since 1970
  double begin_of_run = 0.0;  // s since the first slice began
  PartsByTime parts;

  SlicedTime(std::int64_t start, double seconds, std::int64_t least_step) : step(least_step) {
    for (;; step *= 2) {
      const std::int64_t step_in_ns = step * nanoseconds_of_a_second;
      const std::int64_t since = start % step_in_ns;
      begin_of_run = static_cast<double>(since) / static_cast<double>(nanoseconds_of_a_second);
      const double count = std::max(1.0, std::ceil((begin_of_run + seconds) / static_cast<double>(step)));
      if (count > static_cast<double>(most_slices)) continue;
      first = (start - since) / nanoseconds_of_a_second;
      parts = {.seconds = count * static_cast<double>(step), .count = static_cast<std::size_t>(count)};
      return;
    }
  }
};

struct Demand {
  std::int64_t SliceRow::*column;
  Feature feature;
};
constexpr std::array demands{Demand{&SliceRow::bytes_sent, Feature::bytes_sent},
                             Demand{&SliceRow::bytes_collective, Feature::bytes_collective},
                             Demand{&SliceRow::bytes_one_sided, Feature::rma_bytes},
                             Demand{&SliceRow::bytes_read, Feature::bytes_read},
                             Demand{&SliceRow::bytes_written, Feature::bytes_written},
                             Demand{&SliceRow::file_opens, Feature::file_opens},
                             Demand{&SliceRow::device_bytes, Feature::device_bytes},
                             Demand{&SliceRow::computing_ms, Feature::compute}};
// In the order of ExcessKind.
constexpr std::array excess_columns{&SliceRow::computation, &SliceRow::point_to_point, &SliceRow::collective,
                                    &SliceRow::file_io, &SliceRow::device};
static_assert(excess_columns.size() == excess_kind_count);

// What one unit of a feature is in its column. Work has the unit of its counter, and is the median of the ranks: it is
// as many ms as all ranks took for all of it. 0 where that is not known.
double unit_of(const Profile& profile, Feature feature) {
  if (feature != Feature::compute) return 1.0;
  const FeatureColumn& column = profile.features[index_of(feature)];
  double work = 0.0;
  for (std::size_t segment = 0; segment < profile.segments; ++segment) work += column.bins[column.bin_of(segment)];
  double seconds = 0.0;
  for (const float computing : profile.sections.computing) seconds += std::isnan(computing) ? 0.0 : computing;
  return work > 0.0 ? 1e3 * seconds / work : 0.0;
}

std::vector<SliceRow> rows_of_slices(const Profile& profile, const Grouping& grouping, const Analysis& analysis,
                                     const Hosts& hosts, const SlicedTime& time) {
  const std::size_t count = time.parts.count;
  std::vector<SliceRow> rows(count);
  std::vector<double> begins(profile.segments);
  std::array<std::vector<double>, demands.size()> demand;
  for (std::vector<double>& sums : demand) sums.assign(count, 0.0);
  std::array<double, demands.size()> units{};
  std::ranges::transform(demands, units.begin(), [&](const Demand& one) { return unit_of(profile, one.feature); });
  const auto spread = [&](double begin, double duration, double amount, std::span<double> sums) {
    if (amount != 0.0) spread_evenly(time.parts, begin, duration, amount, sums);
  };
  along_time(times_of(profile), [&](std::size_t segment, double begin, double duration) {
    begins[segment] = time.begin_of_run + begin;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      const FeatureColumn& column = profile.features[index_of(demands[i].feature)];
      if (column.bins.empty()) continue;
      spread(begins[segment], duration, units[i] * column.bins[column.bin_of(segment)], demand[i]);
    }
  });
  std::array<std::vector<double>, excess_kind_count> excess;
  for (std::vector<double>& sums : excess) sums.assign(count, 0.0);
  std::vector<std::map<std::size_t, double>> by_host(count);
  for_each_divided(profile, grouping, analysis.excess, [&](std::size_t segment, const SecondsByKind& kinds) {
    const auto duration = static_cast<double>(profile.duration[segment]);
    for (std::size_t kind = 0; kind < excess_kind_count; ++kind) {
      spread(begins[segment], duration, kinds[kind], excess[kind]);
    }
    const std::size_t host = hosts.of_rank[profile.last_rank[segment]];
    if (host >= hosts.names.size()) return;
    const std::size_t last = time.parts.at(begins[segment] + duration);
    for (std::size_t part = time.parts.at(begins[segment]); part <= last; ++part) {
      const double from = std::max(begins[segment], time.parts.begin(part));
      const double until = std::min(begins[segment] + duration, time.parts.begin(part + 1));
      by_host[part][host] += static_cast<double>(analysis.excess[segment]) * (until - from) / duration;
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    SliceRow& row = rows[i];
    row.second = time.first + static_cast<std::int64_t>(i) * time.step;
    for (std::size_t kind = 0; kind < excess_kind_count; ++kind) {
      row.*excess_columns[kind] = in_microseconds(excess[kind][i]);
    }
    for (std::size_t k = 0; k < demands.size(); ++k) row.*demands[k].column = whole(demand[k][i]);
    const auto most = std::max_element(by_host[i].begin(), by_host[i].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == by_host[i].end() || !(most->second > 0.0)) continue;
    row.host = static_cast<std::int64_t>(most->first);
    row.host_excess = in_microseconds(most->second);
  }
  return rows;
}

}  // namespace

std::string key_of(const Profile& profile) {
  const std::string told_apart = profile.start_nanoseconds > 0 ? "" : fmt::format("{}", profile.run_time_seconds);
  return name_of_hash(fnv1a(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", start_of(profile), profile.command, profile.ranks,
                                        profile.rank_host.empty() ? std::string() : profile.rank_host.front(),
                                        profile.job, profile.job_step, told_apart)));
}

Outcome<RunRecord> record_of(const Profile& profile, const Grouping& grouping, const Analysis& analysis,
                             const Given& given) {
  if (!profile.composed_of.empty()) return Failure{"it is composed of several runs: add those"};
  const std::int64_t start = start_of(profile);
  if (start <= 0) return Failure{"it does not say when the run began"};
  const Hosts hosts(profile);
  const SlicedTime time(start, times_of(profile).length(), given.slice_seconds);
  const MethodResult& result = analysis.result();
  RunRecord record{.work = work_of(profile, hosts.names.size(), given.program)};
  record.run = {.run = start,
                .key = key_of(profile),
                .work = record.work.work,
                .label = text(given.label.empty() ? profile.label : given.label),
                .user_name = text(profile.user),
                .project = text(given.project.empty() ? profile.project : given.project),
                .cluster = text(profile.cluster),
                .partition_name = text(profile.partition),
                .job = text(profile.job),
                .job_step = text(profile.job_step),
                .ranks = profile.ranks,
                .hosts = std::max<std::int64_t>(1, static_cast<std::int64_t>(hosts.names.size())),
                .segments = static_cast<std::int64_t>(profile.segments),
                .run_time_seconds = profile.run_time_seconds,
                .coverage_percent = std::max(0.0, analysis.coverage_percent),
                .verdict = std::string(name_of(result.verdict)),
                .no_verdict = analysis.no_verdict ? analysis.no_verdict->reason.code : std::string(),
                .cause = analysis.cause ? std::string(analysis.cause->code) : std::string(),
                .may_be_own = result.may_be_own ? 1 : 0,
                .is_injected = profile.inject.empty() ? 0 : 1,
                .exit_state = text(profile.exit_state),
                .mpi = text(profile.mpi),
                .counter = text(profile.counter),
                .recorder_version = text(profile.recorder_version),
                .slice_seconds = time.step,
                .note = text(profile.note)};
  if (analysis.has_estimate()) {
    const double undisturbed = std::max(0.0, analysis.undisturbed_time_seconds());
    const Interval interval = analysis.undisturbed_interval_seconds();
    record.run.undisturbed_seconds = undisturbed;
    record.run.undisturbed_low_seconds = std::min(undisturbed, interval.low);
    record.run.undisturbed_high_seconds = std::max(undisturbed, interval.high);
  }
  record.groups = rows_of_groups(profile, grouping, analysis);
  record.hosts = rows_of_hosts(profile, hosts, analysis.breakdown);
  if (profile.segments > 0) record.slices = rows_of_slices(profile, grouping, analysis, hosts, time);
  return record;
}

}  // namespace halcyon::ledger
