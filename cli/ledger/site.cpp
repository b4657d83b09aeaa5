#include "cli/ledger/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "cli/console/progress.hpp"
#include "libprofile/system/plural.hpp"
#include "libprofile/system/utc.hpp"

namespace halcyon::cli {
Outcome<std::vector<ledger::Loss>> losses_for(ledger::Ledger& ledger, ledger::By by, const PeriodOptions& period) {
  show_step("adding up losses");
  Outcome<std::vector<ledger::Loss>> losses = ledger::losses(ledger, by, period_of(period));
  show_step("");
  return losses;
}

Outcome<ledger::SiteHistory> history_for(ledger::Ledger& ledger, const PeriodOptions& period) {
  show_step("reading runs");
  Outcome<ledger::SiteHistory> history = ledger::history_of_site(ledger, period_of(period));
  show_step("");
  return history;
}

NodeRanking ranking_of(const ledger::SiteHistory& history, NodeSettings settings) {
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

nlohmann::ordered_json day_json(double day) {
  constexpr double seconds_of_a_day = 86400.0;
  return utc_text(static_cast<std::int64_t>(std::floor(day * seconds_of_a_day)));
}

std::vector<WorkTrend> trends_of(const std::vector<std::uint32_t>& works, const ledger::SiteHistory& history,
                                 const NodeRanking& ranking) {
  std::vector<WorkTrend> trends;
  if (works.empty()) return trends;
  show_step("looking for changes");
  const SiteLevels levels = levels_beside_nodes(history.runs, ranking);
  for (std::size_t i = 0; i < works.size(); ++i) {
    show_step(
        fmt::format("looking for changes of {} ({} of {})", plural(history.works.size(), "work"), i + 1, works.size()));
    const WorkChanges changes = changes_of(works[i], history.runs, ranking, levels);
    if (changes.runs > 0) trends.push_back({works[i], changes});
  }
  show_step("");
  std::ranges::stable_sort(trends, std::greater(), [](const WorkTrend& one) { return one.changes.runs; });
  return trends;
}

}  // namespace halcyon::cli
