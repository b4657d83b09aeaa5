// The runs of a site as its statistics take them (analyzer/site).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/site/site_run.hpp"
#include "ledger/queries.hpp"

namespace halcyon::ledger {

struct SiteHost {
  std::string cluster;
  std::string name;

  auto operator<=>(const SiteHost&) const = default;
};

/// A work on a cluster: another one has other processors.
struct SiteWork {
  WorkRow work;
  std::string cluster;
};

struct SiteHistory {
  std::vector<SiteRun> runs;    // along the calendar, in days since 1970 UTC; their number is `RunRow::run`
  std::vector<SiteHost> hosts;  // by the numbers that runs have of them
  std::vector<SiteWork> works;
  std::size_t left_out = 0;  // runs that did not end as they should, or have no estimate or no names of hosts
};

/// Runs of that time that were not disturbed on purpose. Of a run of several hosts, their times are those of `log_pace`
/// if all of them have one.
Outcome<SiteHistory> history_of_site(Ledger& ledger, const Period& period);

/// The numbers of the works of a program of this name, or of those whose own name begins so (`WorkRow::work`).
std::vector<std::uint32_t> works_named(const SiteHistory& history, const std::string& name);

}  // namespace halcyon::ledger
