// halcyon ledger metrics: the totals of a site for monitoring.
#include <memory>

#include "cli/console/output.hpp"
#include "cli/ledger/commands.hpp"
#include "cli/ledger/site.hpp"
#include "report/site/metrics.hpp"

namespace halcyon::cli {
namespace {

using ledger::By;

struct MetricsOptions {
  std::string database;
  std::string output;
  PeriodOptions period;
  bool nodes = false;
};

int show_metrics(const MetricsOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    std::vector<std::pair<By, std::vector<ledger::Loss>>> losses;
    for (const By by : {By::cause, By::project, By::partition}) {
      Outcome<std::vector<ledger::Loss>> each = losses_for(ledger, by, options.period);
      if (!each) return fail(each.failure().message);
      losses.emplace_back(by, std::move(*each));
    }
    SlowNodes nodes;
    if (options.nodes) {
      Outcome<ledger::SiteHistory> history = history_for(ledger, options.period);
      if (!history) return fail(history.failure().message);
      nodes.history = std::move(*history);
      nodes.ranking = ranking_of(nodes.history);
    }
    const std::string text = site_metrics(losses, options.nodes ? &nodes : nullptr);
    const Status written = options.output.empty() ? print_text(text) : write_file(options.output, text);
    return written ? int{passed} : fail(written.failure().message);
  });
}

}  // namespace

void add_ledger_metrics(const Command& ledger) {
  const Command command =
      ledger.subcommand("metrics", "Write the totals of the site for monitoring, as OpenMetrics text");
  auto options = std::make_shared<MetricsOptions>();
  add_database_option(command, options->database);
  add_period_options(command, options->period);
  command.flag("--nodes", options->nodes, "Also slow hosts, as `ledger nodes` lists them; takes as long as that");
  command.option("-o,--output", options->output, "Write to FILE instead of standard output").output_file();
  command.notes(
      "Node hours of runs, and those that they lost, with intervals: of all, and by cause, project and partition. A "
      "file\n"
      "is replaced in one step, so that the textfile collector of node_exporter can read it.\n"
      "Example: halcyon ledger metrics --database site.db --since 30d -o /var/lib/node_exporter/halcyon.prom");
  command.does([options] { return show_metrics(*options); });
}

}  // namespace halcyon::cli
