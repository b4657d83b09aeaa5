// The totals of a site for monitoring, as OpenMetrics text of gauges (report/exposition.hpp).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/site/nodes.hpp"
#include "ledger/queries.hpp"
#include "ledger/site_history.hpp"

namespace halcyon {

struct SlowNodes {
  ledger::SiteHistory history;
  NodeRanking ranking;
};

/// `losses`: of the same runs by one thing after the other, none of them by host. `nodes` may be null: they are not
/// known.
std::string site_metrics(const std::vector<std::pair<ledger::By, std::vector<ledger::Loss>>>& losses,
                         const SlowNodes* nodes);

}  // namespace halcyon
