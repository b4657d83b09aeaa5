// halcyon ledger export: the ledger as files of Parquet.
#include <fmt/format.h>

#include <memory>

#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/ledger/commands.hpp"
#include "ledger/parquet.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon::cli {
namespace {

struct LedgerExportOptions {
  std::string directory;
  std::string database;
};

int export_ledger(const LedgerExportOptions& options) {
  return with_ledger(options.database, ledger::Use::reads, [&options](ledger::Ledger& ledger) {
    show_step("looking for what is new");
    const auto progress = [](const ledger::Exported& so_far, std::size_t days) {
      show_step(fmt::format("writing day {} of {}", so_far.days + 1, days));
    };
    const Outcome<ledger::Exported> done = ledger::export_to_parquet(ledger, options.directory, progress);
    show_step("");
    if (!done) return fail(done.failure().message);
    std::string said = "nothing new, of " + plural(done->in_ledger, "run");
    if (done->days > 0) {
      said = fmt::format("{} written: {} added", plural(done->days, "day"), plural(done->runs, "run"));
      if (done->replaced > 0) said += fmt::format(", {} replaced", done->replaced);
    }
    const Status printed = print_text(said + "\n");
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

}  // namespace

void add_ledger_export(const Command& ledger) {
  const Command command = ledger.subcommand("export", "Write what is new in the ledger into files of Parquet");
  auto options = std::make_shared<LedgerExportOptions>();
  command.option("DIR", options->directory, "A new directory, or one that was exported to").required();
  add_database_option(command, options->database);
  command.notes(
      "For sites that outgrow one database: a file of each table for each day (UTC). Then the other commands answer\n"
      "with --database parquet:DIR, by DuckDB (pip install duckdb), or on many machines by Spark (pip install "
      "pyspark)\n"
      "with HALCYON_PARQUET_ENGINE=spark. Only days with runs that are new are written. Runs that the ledger has no\n"
      "longer stay in the files.\n"
      "Example: halcyon ledger export --database site.db /shared/runs");
  command.does([options] { return export_ledger(*options); });
}

}  // namespace halcyon::cli
