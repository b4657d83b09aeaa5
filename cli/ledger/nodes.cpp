// halcyon ledger nodes: which hosts make runs longer, and since when.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/ledger/commands.hpp"
#include "cli/ledger/site.hpp"
#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/site/words.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

using ledger::SiteHistory;
using ledger::SiteHost;
using nlohmann::ordered_json;

struct NodesOptions {
  std::string database;
  std::string json;
  PeriodOptions period;
  std::uint64_t most = 20;
};

ordered_json host_json(const SiteHistory& history, const HostEffect& one) {
  const SiteHost& host = history.hosts[one.host];
  return {{"host", host.name},
          {"cluster", text_or_null(host.cluster)},
          {"runs", one.runs},
          {"slower_percent", one.percent},
          {"slower_interval_percent", interval_json(one.interval_percent)},
          {"chance_slow", one.chance_slow},
          {"listed", one.is_listed},
          {"since", one.since_days ? ordered_json{day_json(one.since_days->low), day_json(one.since_days->high)}
                                   : ordered_json()}};
}

std::vector<std::string> host_row(const SiteHistory& history, const HostEffect& one) {
  return {briefly(shown_name(history, history.hosts[one.host]), 24), std::to_string(one.runs),
          percent_words(one.percent, one.interval_percent), decimal(100.0 * one.chance_slow, 0), slow_since_words(one)};
}

std::string ranking_text(const SiteHistory& history, const NodeRanking& ranking, std::size_t most) {
  const NodeSettings settings;
  const auto listed = static_cast<std::size_t>(
      std::ranges::count_if(ranking.hosts, [](const HostEffect& one) { return one.is_listed; }));
  std::vector<std::vector<std::string>> lines{{"host", "runs", "slower by % (90 %)", "surely %", "became slow (UTC)"}};
  const std::size_t shown = std::min(ranking.hosts.size(), std::max(most, listed));
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(host_row(history, ranking.hosts[i]));
  std::string text = aligned("<>>><", lines);
  if (shown < ranking.hosts.size()) text += fmt::format("… and {} more\n", ranking.hosts.size() - shown);
  const std::string slow = decimal(settings.slow_percent, 0) + " %";
  text += filled(
      "\n", 0,
      listed == 0
          ? fmt::format("None of {} makes runs surely more than {} longer than the middle host does, over {}.",
                        plural(ranking.hosts.size(), "host"), slow, plural(history.runs.size(), "run"))
          : fmt::format(
                "{} of {}, by {}: more than {} slower than the middle host. {} % of such a list are expected not "
                "to be.",
                listed, plural(ranking.hosts.size(), "host"), plural(history.runs.size(), "run"), slow,
                decimal(100.0 * settings.most_false_discoveries, 0)));
  text += left_out_words(history);
  for (const auto& [cluster, names] : names_to_exclude(history, ranking))
    text += fmt::format("{}--exclude={}\n", has_clusters(history) ? briefly(cluster, 24) + ": " : "", names);
  return text;
}

ordered_json ranking_json(const SiteHistory& history, const NodeRanking& ranking) {
  ordered_json hosts = ordered_json::array();
  for (const HostEffect& one : ranking.hosts) hosts.push_back(host_json(history, one));
  ordered_json lists = ordered_json::array();
  for (const auto& [cluster, names] : names_to_exclude(history, ranking))
    lists.push_back({{"cluster", text_or_null(cluster)}, {"hosts", names}});
  return {{"runs", history.runs.size()},
          {"left_out_runs", history.left_out},
          {"slow_percent", NodeSettings{}.slow_percent},
          {"hosts", std::move(hosts)},
          {"exclude", std::move(lists)}};
}

int show_nodes(const NodesOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    const Outcome<SiteHistory> history = history_for(ledger, options.period);
    if (!history) return fail(history.failure().message);
    const NodeRanking ranking = ranking_of(*history);
    const Status printed =
        print_result(ranking_text(*history, ranking, options.most), ranking_json(*history, ranking), options.json);
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_nodes(const Command& ledger) {
  const Command command = ledger.subcommand("nodes", "Say which hosts make runs longer, by how much, and since when");
  auto options = std::make_shared<NodesOptions>();
  add_database_option(command, options->database);
  add_period_options(command, options->period);
  command.option("--most", options->most, "Show so many hosts, and all that are surely slow").with_default();
  add_json_option(command, options->json);
  command.notes(
      "All runs of all works are taken together: what a work needs, what all works have in common along the calendar,\n"
      "and what each host adds. A run is as slow as its slowest host. Of the hosts that are said to be slow, 5 % are\n"
      "expected not to be. Hosts that only one work used, always together, cannot be told from what it needs.\n"
      "The last line is for sbatch and srun.\n"
      "Examples:\n"
      "  halcyon ledger nodes --database site.db\n"
      "  halcyon ledger nodes --database site.db --since 90d --json -");
  command.does([options] { return show_nodes(*options); });
}

}  // namespace halcyon::cli
