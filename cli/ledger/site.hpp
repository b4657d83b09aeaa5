// What `halcyon ledger nodes` and `trend` share: the runs of a site, its hosts ranked, and words for days.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/site/nodes.hpp"
#include "cli/ledger/commands.hpp"
#include "ledger/site_history.hpp"

namespace halcyon::cli {

/// Both show how far they are.
Outcome<ledger::SiteHistory> history_for(ledger::Ledger& ledger, const PeriodOptions& period);
NodeRanking ranking_of(const ledger::SiteHistory& history);

/// "2026-11-14", of days since 1970; in JSON with the time.
std::string day_words(double day);
nlohmann::ordered_json day_json(double day);

/// "6.1 (4.0 to 8.2)"
std::string percent_words(double percent, const Interval& interval);

/// How many runs say nothing here, as a line; empty if none.
std::string left_out_words(const ledger::SiteHistory& history);

}  // namespace halcyon::cli
