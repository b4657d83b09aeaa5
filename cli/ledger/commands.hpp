// The subcommands of `halcyon ledger`, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/console/command.hpp"
#include "ledger/queries.hpp"

namespace halcyon::cli {

/// Adds `ledger` with its subcommands.
void add_ledger(const Command& program);

/// Each adds one of them.
void add_ledger_add(const Command& ledger);
void add_ledger_collect(const Command& ledger);
void add_ledger_ingest(const Command& ledger);
void add_ledger_slim(const Command& ledger);
void add_ledger_runs(const Command& ledger);
void add_ledger_lost(const Command& ledger);
void add_ledger_who(const Command& ledger);
void add_ledger_nodes(const Command& ledger);
void add_ledger_trend(const Command& ledger);
void add_ledger_html(const Command& ledger);
void add_ledger_metrics(const Command& ledger);
void add_ledger_export(const Command& ledger);

/// --database FILE|postgresql://…|parquet:DIR
void add_database_option(const Command& command, std::string& database);

/// --since and --until, as they were given.
struct PeriodOptions {
  std::string since;
  std::string until;
};
void add_period_options(const Command& command, PeriodOptions& options);
ledger::Period period_of(const PeriodOptions& options);
/// For an answer without runs, of all times or of that one.
std::string no_runs_words(const PeriodOptions& options, const std::string& work = "");

/// "90d", "12w", "2y": seconds.
std::optional<double> age_in(const std::string& text);
/// Now, in ns since 1970.
std::int64_t nanoseconds_now();

/// Opens the ledger, and calls `action` with it; its status, or that of a failure.
int with_ledger(const std::string& database, ledger::Use use, const std::function<int(ledger::Ledger& ledger)>& action);

}  // namespace halcyon::cli
