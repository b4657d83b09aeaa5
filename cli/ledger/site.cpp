#include "cli/ledger/site.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/console/progress.hpp"
#include "libprofile/system/plural.hpp"
#include "libprofile/system/utc.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

std::int64_t seconds_since_1970(double day) {
  constexpr double seconds_of_a_day = 86400.0;
  return static_cast<std::int64_t>(std::floor(day * seconds_of_a_day));
}

}  // namespace

Outcome<ledger::SiteHistory> history_for(ledger::Ledger& ledger, const PeriodOptions& period) {
  show_step("reading runs");
  Outcome<ledger::SiteHistory> history = ledger::history_of_site(ledger, period_of(period));
  show_step("");
  return history;
}

NodeRanking ranking_of(const ledger::SiteHistory& history) {
  NodeSettings settings;
  settings.progress = [&history, shown = -1](double share) mutable {
    const int percent = static_cast<int>(100.0 * share);
    if (percent == shown) return;
    shown = percent;
    show_step(fmt::format("comparing {} on {}: {} %", plural(history.runs.size(), "run"),
                          plural(history.hosts.size(), "host"), percent));
  };
  NodeRanking ranking = rank_nodes(history.runs, settings);
  show_step("");
  return ranking;
}

std::string day_words(double day) { return utc_text(seconds_since_1970(day), "%Y-%m-%d"); }
nlohmann::ordered_json day_json(double day) { return utc_text(seconds_since_1970(day)); }

std::string percent_words(double percent, const Interval& interval) {
  return fmt::format("{} ({} to {})", decimal(percent, 1), decimal(interval.low, 1), decimal(interval.high, 1));
}

std::string left_out_words(const ledger::SiteHistory& history) {
  if (history.left_out == 0) return "";
  return fmt::format("Left out: {} without an estimate, a regular end or names of hosts.\n",
                     plural(history.left_out, "run"));
}

}  // namespace halcyon::cli
