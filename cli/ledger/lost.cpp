// halcyon ledger lost: node hours that runs lost to the outside.
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

using ledger::Loss;
using nlohmann::ordered_json;

struct LostOptions {
  std::string by{ledger::by_names.front()};
  std::string database;
  std::string json;
  PeriodOptions period;
};

ordered_json loss_json(const Loss& loss) {
  return {{"runs", loss.runs},
          {"judged_runs", loss.judged_runs},
          {"node_hours", loss.node_hours},
          {"judged_node_hours", loss.judged_node_hours},
          {"lost_node_hours", loss.lost_node_hours},
          {"lost_interval_node_hours", interval_json({loss.low_node_hours, loss.high_node_hours})},
          {"may_be_own_node_hours", loss.own_node_hours}};
}

std::vector<std::string> loss_row(const std::string& name, const Loss& loss) {
  return {name,
          std::to_string(loss.runs),
          std::to_string(loss.judged_runs),
          hours_words(loss.node_hours),
          lost_words(loss),
          lost_share_words(loss)};
}

int show_losses(const LostOptions& options) {
  const auto by = static_cast<ledger::By>(std::find(ledger::by_names.begin(), ledger::by_names.end(), options.by) -
                                          ledger::by_names.begin());
  return with_ledger(options.database, ledger::Use::reads, [&](ledger::Ledger& ledger) {
    const Outcome<std::vector<Loss>> losses = losses_for(ledger, by, options.period);
    if (!losses) return fail(losses.failure().message);
    std::vector<std::vector<std::string>> lines{
        {options.by, "runs", "judged", "node hours", "lost node hours (90 %)", "in %"}};
    ordered_json rows = ordered_json::array();
    double own = 0.0;
    for (const Loss& loss : *losses) {
      lines.push_back(loss_row(briefly(shown_name(by, loss), 24), loss));
      ordered_json row{{"name", text_or_null(loss.name)}};
      row.update(loss_json(loss));
      rows.push_back(std::move(row));
      own += loss.own_node_hours;
    }
    const Loss sum = ledger::sum_of(*losses);
    if (by != ledger::By::host) lines.push_back(loss_row("all", sum));
    std::string text = aligned("<>>>>>", lines);
    if (own > 0.0) {
      text += filled(
          "\n", 0,
          hours_words(own) + " of the lost node hours are of runs in which most may be the program's own doing.");
    }
    ordered_json json{
        {"by", options.by}, {"rows", rows}, {"all", by == ledger::By::host ? ordered_json() : loss_json(sum)}};
    if (losses->empty()) text = no_runs_words(options.period);
    const Status printed = print_result(text, json, options.json);
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_lost(const Command& ledger) {
  const Command command = ledger.subcommand("lost", "Add up the node hours that runs lost, by project, user and so on");
  auto options = std::make_shared<LostOptions>();
  command.option("--by", options->by, "What to add up by")
      .one_of({ledger::by_names.begin(), ledger::by_names.end()})
      .with_default();
  add_database_option(command, options->database);
  add_period_options(command, options->period);
  add_json_option(command, options->json);
  command.notes(
      "A run loses its run time less the time that it would have taken undisturbed, on all its hosts. The intervals "
      "of\n"
      "runs add in quadrature. Runs without an estimate count in 'runs' and 'node hours' alone; those that were "
      "disturbed\n"
      "on purpose do not count. By host: what runs lost while ranks on that host held the others up.\n"
      "Example: halcyon ledger lost --database site.db --by cause --since 30d");
  command.does([options] { return show_losses(*options); });
}

}  // namespace halcyon::cli
