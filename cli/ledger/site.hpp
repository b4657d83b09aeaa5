// What commands of `halcyon ledger` share: losses, the runs of a site, its hosts ranked, and how works changed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/site/changes.hpp"
#include "analyzer/site/nodes.hpp"
#include "cli/ledger/commands.hpp"
#include "ledger/site_history.hpp"

namespace halcyon::cli {

/// All of these show how far they are.
Outcome<std::vector<ledger::Loss>> losses_for(ledger::Ledger& ledger, ledger::By by, const PeriodOptions& period);
Outcome<ledger::SiteHistory> history_for(ledger::Ledger& ledger, const PeriodOptions& period);
NodeRanking ranking_of(const ledger::SiteHistory& history, NodeSettings settings = {});

/// The time of a day, in days since 1970.
nlohmann::ordered_json day_json(double day);

/// The works of these numbers that have runs, those of the most runs first.
std::vector<WorkTrend> trends_of(const std::vector<std::uint32_t>& works, const ledger::SiteHistory& history,
                                 const NodeRanking& ranking);

}  // namespace halcyon::cli
