#include "ledger/site_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/statistics/interval.hpp"
#include "ledger/schema.hpp"
#include "ledger/values.hpp"

namespace halcyon::ledger {
namespace {

constexpr double nanoseconds_of_a_day = 86400.0 * static_cast<double>(nanoseconds_of_a_second);
constexpr std::string_view which_runs = "r.run >= $1 AND r.run < $2 AND r.is_injected = 0";

/// Hosts of the runs that are read, run by run, as the runs come.
struct Reading {
  SiteHistory history;
  std::map<std::int64_t, std::size_t> places;  // of runs
  std::map<std::pair<std::string, std::string>, std::uint32_t> works;
  std::map<SiteHost, std::uint32_t> hosts;
  std::vector<std::string> clusters;  // (runs)
  std::vector<bool> lacks_a_pace;     // (runs) some host of it

  void add_run(const Row& row) {
    const double undisturbed = number_in(row[3]);
    const double low = number_in(row[4]);
    const double high = number_in(row[5]);
    if (!(undisturbed > 0.0) || !(high >= undisturbed)) return;
    SiteRun run{.hosts = {}, .log_host_seconds = {}, .label = text_in(row[7])};
    const std::string work = text_in(row[1]);
    const std::string cluster = text_in(row[2]);
    const auto [known, is_new] =
        works.emplace(std::pair(work, cluster), static_cast<std::uint32_t>(history.works.size()));
    if (is_new) history.works.push_back({.work = {.work = work, .program = {}, .command = {}}, .cluster = cluster});
    run.number = whole_in(row[0]);
    run.work = known->second;
    run.day = number_in(row[0]) / nanoseconds_of_a_day;
    run.log_seconds = std::log(undisturbed);
    // The low end of an interval may be 0.
    run.log_error =
        (low > 0.0 ? 0.5 * std::log(high / low) : std::log(high / undisturbed)) / normal_quantile_of_interval();
    const double run_time = number_in(row[6]);
    run.lost_share = run_time > 0.0 ? std::clamp(1.0 - undisturbed / run_time, 0.0, 1.0) : 0.0;
    places.emplace(whole_in(row[0]), history.runs.size());
    history.runs.push_back(std::move(run));
    clusters.push_back(cluster);
    lacks_a_pace.push_back(false);
  }

  void add_host(const Row& row) {
    const auto place = places.find(whole_in(row[0]));
    const std::string name = text_in(row[1]);
    if (place == places.end() || name.empty()) return;
    SiteRun& run = history.runs[place->second];
    const SiteHost host{clusters[place->second], name};
    const auto [known, is_new] = hosts.emplace(host, static_cast<std::uint32_t>(history.hosts.size()));
    if (is_new) history.hosts.push_back(host);
    if (std::ranges::find(run.hosts, known->second) != run.hosts.end()) return;
    run.hosts.push_back(known->second);
    run.log_host_seconds.push_back(number_in(row[2]));
    if (std::holds_alternative<std::monostate>(row[2])) lacks_a_pace[place->second] = true;
  }
};

}  // namespace

Outcome<SiteHistory> history_of_site(Ledger& ledger, const Period& period) {
  const std::array<Value, 2> ends{period.since, period.until};
  Reading reading;
  std::size_t all = 0;
  Status read =
      ledger.connection().run(fmt::format("SELECT COUNT(*) FROM {} r WHERE {}", visible_run, which_runs), ends,
                              [&](const Row& row) { all = static_cast<std::size_t>(whole_in(row.front())); });
  if (read) {
    read = ledger.connection().run(
        fmt::format("SELECT r.run, r.work, r.cluster, r.undisturbed_seconds, r.undisturbed_low_seconds, "
                    "r.undisturbed_high_seconds, r.run_time_seconds, r.label FROM {} r WHERE {} AND r.exit_state = "
                    "'finalized' AND "
                    "r.undisturbed_seconds IS NOT NULL ORDER BY r.run",
                    visible_run, which_runs),
        ends, [&](const Row& row) { reading.add_run(row); });
  }
  if (read) {
    read = ledger.connection().run(
        fmt::format("SELECT run, host, log_pace FROM {} WHERE run >= $1 AND run < $2 ORDER BY run, number", host_table),
        ends, [&](const Row& row) { reading.add_host(row); });
  }
  SiteHistory& history = reading.history;
  if (read) {
    read = ledger.connection().run(fmt::format("SELECT work, program, command FROM {}", visible_work), {},
                                   [&](const Row& row) {
                                     const std::string work = text_in(row[0]);
                                     for (auto of_work = reading.works.lower_bound({work, ""});
                                          of_work != reading.works.end() && of_work->first.first == work; ++of_work) {
                                       WorkRow& known = history.works[of_work->second].work;
                                       known.program = text_in(row[1]);
                                       known.command = text_in(row[2]);
                                     }
                                   });
  }
  if (!read) return read.failure();
  for (std::size_t i = 0; i < history.runs.size(); ++i)
    if (reading.lacks_a_pace[i]) history.runs[i].log_host_seconds.clear();
  std::erase_if(history.runs, [](const SiteRun& run) { return !is_usable(run); });
  history.left_out = all - history.runs.size();
  return std::move(history);
}

std::vector<std::uint32_t> works_named(const SiteHistory& history, const std::string& name) {
  std::vector<std::uint32_t> works;
  for (std::uint32_t work = 0; work < history.works.size(); ++work) {
    const WorkRow& known = history.works[work].work;
    if (known.program == name || known.work.starts_with(name)) works.push_back(work);
  }
  return works;
}

}  // namespace halcyon::ledger
