// The words for what is known of a site, which commands and pages share: days, hosts, changes, losses.
#pragma once

#include <map>
#include <string>

#include "analyzer/site/changes.hpp"
#include "analyzer/site/nodes.hpp"
#include "ledger/queries.hpp"
#include "ledger/site_history.hpp"

namespace halcyon {

/// The day of a time in ns since 1970, or with `also_time` the time, too.
std::string when_words(std::int64_t nanoseconds, bool also_time);
/// "2026-11-14", of days since 1970.
std::string day_words(double day);

/// "6.1 (4.0 to 8.2)"
std::string percent_words(double percent, const Interval& interval);

/// Node hours, and those that were lost with their interval.
std::string hours_words(double hours);
std::string lost_words(const ledger::Loss& loss);
/// The share of the judged node hours that was lost, in percent; "-" if none was judged.
std::string lost_share_words(const ledger::Loss& loss);

/// When a listed host became slow: "between 2026-11-14 and 2026-11-16".
std::string slow_since_words(const HostEffect& host);

/// Whether hosts are of several clusters.
bool has_clusters(const ledger::SiteHistory& history);
/// By cluster, the listed hosts as Slurm's `--exclude=` takes them: "n07,n12". Made to be pasted into a shell, so
/// without names that would mean something else there.
std::map<std::string, std::string> names_to_exclude(const ledger::SiteHistory& history, const NodeRanking& ranking);

/// "since 2026-11-14 (2026-11-12 to 2026-11-15; then v2 came) the code needs 6.1 % (4.0 to 8.2) more; …"
std::string change_words(const Change& change);
std::string loss_change_words(const LossChange& change);

/// How many runs say nothing of hosts and works, as a line; empty if none.
std::string left_out_words(const ledger::SiteHistory& history);

/// "job 4711 lmp of alice"; names are the operator's and the owner's to see.
std::string shown_name(const ledger::PastRun& run);
/// A host, with its cluster where hosts are of several.
std::string shown_name(const ledger::SiteHistory& history, const ledger::SiteHost& host);
/// What runs are added up by.
std::string shown_name(ledger::By by, const ledger::Loss& loss);
/// The command of a work, where it may be seen.
std::string shown_name(const ledger::WorkRow& work);

}  // namespace halcyon
