// Static pages of a site: of all of it, of a host, of a work and of a run. Each is one file that needs no network, in
// the style of the report. They show what the commands say: nothing is estimated here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/site/changes.hpp"
#include "analyzer/site/nodes.hpp"
#include "ledger/queries.hpp"
#include "ledger/site_history.hpp"

namespace halcyon {

/// What was lost in a part of the calendar.
struct LossInPart {
  ledger::Period period;
  ledger::Loss loss;
};

/// What all pages know of.
struct SiteOnPages {
  ledger::Period period;  // from the first run to the last one
  std::vector<LossInPart> along;
  std::vector<std::pair<ledger::By, std::vector<ledger::Loss>>> losses;
  ledger::SiteHistory history;
  NodeRanking ranking;
  std::vector<WorkTrend> trends;
  std::vector<ledger::PastRun> latest;
  std::vector<ledger::PastRun> costliest;
  bool has_names = true;  // false: what only operators and owners may see is left out

  /// Files of the pages below the directory, for hosts and works by their number in `history`, and for runs.
  std::map<std::uint32_t, std::string> host_pages;
  std::map<std::uint32_t, std::string> work_pages;
  std::map<std::int64_t, std::string> run_pages;
};

/// The directories of the pages of hosts, works and runs.
inline constexpr std::array<const char*, 3> page_directories{"node", "work", "run"};
/// Chooses and names the pages: of at most `most` hosts (the most surely slow ones), works (of the most runs) and runs
/// (those that lost the most, then the latest).
void name_pages(SiteOnPages& site, std::size_t most);

/// What the first page begins with: by this, a directory of pages is recognised.
inline constexpr const char* mark_of_pages = "<!-- pages of halcyon ledger html -->";
std::string site_page(const SiteOnPages& site);

/// `runs`: the latest ones of this host, as they are in the history.
std::string host_page(const SiteOnPages& site, const HostEffect& host, const std::vector<ledger::PastRun>& runs);

/// `runs`: the latest ones of this work.
std::string work_page(const SiteOnPages& site, const WorkTrend& trend, const std::vector<ledger::PastRun>& runs);

struct RunOfPage {
  ledger::PastRun run;
  std::vector<ledger::HostRow> hosts;
  std::vector<ledger::SliceRow> slices;
  std::string report;  // the page of its profile, as a link; empty if there is none
};
std::string run_page(const SiteOnPages& site, const RunOfPage& run);

/// Empties what is the operator's and the owner's to see.
template <class Row>
void hide_names(Row& row) {
  for (const ledger::Column<Row>& column : ledger::columns_of<Row>()) {
    if (column.is_private) row.*std::get<std::string Row::*>(column.member) = "";
  }
}

}  // namespace halcyon
