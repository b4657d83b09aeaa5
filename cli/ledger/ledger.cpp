// halcyon ledger: the runs of a site.
#include <fmt/format.h>

#include "cli/console/output.hpp"
#include "cli/console/quantity.hpp"
#include "cli/ledger/commands.hpp"
#include "libprofile/system/legible.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/utc.hpp"

namespace halcyon::cli {
namespace {

constexpr double seconds_of_a_day = 86400.0;

// Nothing if it is no time.
std::optional<std::int64_t> time_in(const std::string& text) {
  if (const std::optional<double> age = age_in(text)) {
    return nanoseconds_now() - static_cast<std::int64_t>(*age) * ledger::nanoseconds_of_a_second;
  }
  const std::optional<std::int64_t> seconds = seconds_since_1970(text, true);
  return seconds ? std::optional(*seconds * ledger::nanoseconds_of_a_second) : std::nullopt;
}

std::string objection_to_time(const std::string& text) {
  return time_in(text) ? ""
                       : "'" + text +
                             "' is no time: give a day (2026-11-01), a time (2026-11-01T12:00:00Z), or an "
                             "age (30d, 12w, 2y)";
}

}  // namespace

std::int64_t nanoseconds_now() { return static_cast<std::int64_t>(nanoseconds_of(CLOCK_REALTIME)); }

std::optional<double> age_in(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const double days = text.back() == 'd' ? 1.0 : text.back() == 'w' ? 7.0 : text.back() == 'y' ? 365.0 : 0.0;
  const std::optional<double> number = number_in(std::string_view(text).substr(0, text.size() - 1));
  constexpr double most_days = 36500.0;
  if (days == 0.0 || !number || !(*number >= 0.0 && *number * days <= most_days)) return std::nullopt;
  return *number * days * seconds_of_a_day;
}

void add_database_option(const Command& command, std::string& database) {
  command
      .option("--database", database,
              "The ledger: a file of SQLite, or postgresql://[USER@]HOST/NAME; to read, also parquet:DIR")
      .placeholder("FILE")
      .required();
}

void add_period_options(const Command& command, PeriodOptions& options) {
  command.option("--since", options.since, "Only runs that began then or later: a day, a time in UTC, or an age (30d)")
      .placeholder("TIME")
      .check(objection_to_time);
  command.option("--until", options.until, "Only runs that began before that")
      .placeholder("TIME")
      .check(objection_to_time);
}

ledger::Period period_of(const PeriodOptions& options) {
  ledger::Period period;
  if (!options.since.empty()) period.since = *time_in(options.since);
  if (!options.until.empty()) period.until = *time_in(options.until);
  return period;
}

std::string no_runs_words(const PeriodOptions& options, const std::string& work) {
  const bool is_of_all_times = options.since.empty() && options.until.empty();
  return fmt::format("the ledger has no run{}{}\n", work.empty() ? "" : " of '" + legible(work) + "'",
                     is_of_all_times ? "" : " of that time");
}

int with_ledger(const std::string& database, ledger::Use use,
                const std::function<int(ledger::Ledger& ledger)>& action) {
  Outcome<ledger::Ledger> opened = ledger::Ledger::open(database, use);
  return opened ? action(*opened) : fail(opened.failure().message);
}

void add_ledger(const Command& program) {
  const Command command = program.subcommand("ledger", "Keep the runs of a site, and say what they lost to what");
  command.needs_subcommand();
  command.notes(
      "The ledger is a database with a row for each run, and for its groups, hosts and slices of time. It is a file "
      "of\n"
      "SQLite on a disk of one host, or a database of PostgreSQL. Jobs never open it: each leaves a file in a spool\n"
      "directory, which may be on a shared file system, and one process takes these files into the ledger.\n"
      "Examples:\n"
      "  halcyon ledger add --database site.db *.h5                  add profiles\n"
      "  halcyon ledger add --spool /shared/spool run.h5             the same by way of a spool, in a job\n"
      "  halcyon ledger ingest --database site.db /shared/spool      take what is in the spool\n"
      "  halcyon ledger lost --database site.db --by partition       node hours lost\n"
      "  halcyon ledger who --database site.db 4711                  which other runs disturbed a job\n"
      "  halcyon ledger nodes --database site.db                     slow hosts\n"
      "  halcyon ledger trend --database site.db lmp                 since when a program needs more time\n"
      "  halcyon ledger html --database site.db pages                pages of all this");
  add_ledger_add(command);
  add_ledger_collect(command);
  add_ledger_ingest(command);
  add_ledger_runs(command);
  add_ledger_lost(command);
  add_ledger_who(command);
  add_ledger_nodes(command);
  add_ledger_trend(command);
  add_ledger_html(command);
  add_ledger_metrics(command);
  add_ledger_export(command);
  add_ledger_slim(command);
}

}  // namespace halcyon::cli
