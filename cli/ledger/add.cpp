// halcyon ledger add, ingest and slim: what changes the ledger.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/ledger/commands.hpp"
#include "cli/ledger/run_of_file.hpp"
#include "ledger/ingest.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon::cli {
namespace {

using ledger::Ledger;

struct AddOptions {
  std::string database;
  std::string spool;
  std::vector<std::string> files;
  std::string label;
  std::string project;
  std::uint64_t slice_seconds = 1;
  bool replace = false;
};

struct IngestOptions {
  std::string database;
  std::string spool;
};

struct SlimOptions {
  std::string database;
  std::string keep;
  std::string keep_slices;
};

// Adds what `take` does with each run. What one file has wrong keeps none of the others back.
int add_files(const AddOptions& options,
              const std::function<Outcome<ledger::Stored>(const ledger::SpooledRun&)>& take) {
  const std::size_t most_bytes = options.spool.empty() ? ledger::most_spool_bytes : ledger::usual_spool_bytes;
  const ledger::Given given{.label = options.label,
                            .project = options.project,
                            .slice_seconds = static_cast<std::int64_t>(options.slice_seconds)};
  std::size_t added = 0;
  std::size_t before = 0;
  int status = passed;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const std::string& file = options.files[i];
    show_step(fmt::format("adding {} ({} of {})", file, i + 1, options.files.size()));
    const Outcome<ledger::SpooledRun> run = run_of_file(file, given, most_bytes);
    show_step("");
    if (!run) {
      status = fail(run.failure().message);
      continue;
    }
    const Outcome<ledger::Stored> stored = take(*run);
    if (!stored) return fail(stored.failure().message);
    if (std::string objection = ledger::objection_to(*stored); !objection.empty()) {
      const bool is_replaced_on_request =
          *stored == ledger::Stored::with_other_contents || *stored == ledger::Stored::of_another_user;
      if (is_replaced_on_request) objection += ": add it with --replace, or leave it";
      status = fail(file + ": " + objection);
      continue;
    }
    ++(*stored == ledger::Stored::now ? added : before);
  }
  std::string said = plural(added, "run") + (options.spool.empty() ? " added" : " put into the spool");
  if (before > 0) said += fmt::format(", {} there already", before);
  const Status printed = print_text(said + "\n");
  return printed ? status : fail(printed.failure().message);
}

int add_to_ledger(const AddOptions& options) {
  if (options.database.empty() == options.spool.empty())
    return fail("ledger add needs --database or --spool, and one of them");
  if (!options.spool.empty()) {
    if (options.replace) return fail("--replace is for --database: what is in a spool is not in the ledger yet");
    if (const std::string objection = objection_to_directory(options.spool); !objection.empty()) return fail(objection);
    return add_files(options, [&options](const ledger::SpooledRun& run) -> Outcome<ledger::Stored> {
      const Outcome<std::string> file = ledger::spool(run.record, options.spool);
      if (!file) return file.failure();
      return ledger::Stored::now;
    });
  }
  return with_ledger(options.database, ledger::Use::writes, [&options](Ledger& ledger) {
    return add_files(options, [&](const ledger::SpooledRun& run) -> Outcome<ledger::Stored> {
      ledger::Stored stored{};
      const Status done = ledger.in_transaction([&]() -> Status {
        const Outcome<ledger::Stored> outcome = ledger.store(run, options.replace);
        if (!outcome) return outcome.failure();
        stored = *outcome;
        return Done{};
      });
      if (!done) return done.failure();
      return stored;
    });
  });
}

int ingest_spool(const IngestOptions& options) {
  return with_ledger(options.database, ledger::Use::writes, [&options](Ledger& ledger) {
    const ledger::Telling telling{.complaint = [](const std::string& line) { tell(line); },
                                  .progress =
                                      [began = std::chrono::steady_clock::now()](const ledger::Ingested& so_far) {
                                        constexpr auto short_wait = std::chrono::seconds(2);
                                        if (std::chrono::steady_clock::now() - began < short_wait) return;
                                        show_step(fmt::format("{} ingested", plural(so_far.stored, "run")));
                                      }};
    const Outcome<ledger::Ingested> done = ledger::ingest(ledger, options.spool, telling);
    show_step("");
    if (!done) return fail(done.failure().message);
    std::string said = plural(done->stored, "run") + " ingested";
    if (done->before > 0) said += fmt::format(", {} there already", done->before);
    if (done->refused > 0) said += fmt::format(", {} refused", plural(done->refused, "file"));
    if (done->left > 0) said += fmt::format(", {} left", plural(done->left, "file"));
    const Status printed = print_text(said + "\n");
    if (!printed) return fail(printed.failure().message);
    return done->refused + done->left > 0 ? int{bad_usage_or_file} : int{passed};
  });
}

int slim_ledger(const SlimOptions& options) {
  if (options.keep.empty() && options.keep_slices.empty()) return fail("ledger slim needs --keep or --keep-slices");
  const auto before = [now = nanoseconds_now()](const std::string& age) {
    return age.empty() ? std::int64_t{0}
                       : now - static_cast<std::int64_t>(*age_in(age)) * ledger::nanoseconds_of_a_second;
  };
  return with_ledger(options.database, ledger::Use::writes, [&](Ledger& ledger) {
    Ledger::Removed removed;
    show_step("removing what is old");
    Status done = ledger.in_transaction([&]() -> Status {
      const Outcome<Ledger::Removed> outcome = ledger.slim(before(options.keep_slices), before(options.keep));
      if (!outcome) return outcome.failure();
      removed = *outcome;
      return Done{};
    });
    const std::string afterwards = ledger.connection().dialect().after_slimming;
    if (done && !afterwards.empty()) done = ledger.connection().run(afterwards);
    show_step("");
    if (!done) return fail(done.failure().message);
    const Status printed =
        print_text(fmt::format("{} and {} removed\n", plural(removed.runs, "run"), plural(removed.slices, "slice")));
    return printed ? int{passed} : fail(printed.failure().message);
  });
}

std::string objection_to_age(const std::string& text) {
  return age_in(text) ? "" : "'" + text + "' is no age: give days, weeks or years (90d, 12w, 2y)";
}

}  // namespace

void add_ledger_add(const Command& ledger) {
  const Command command = ledger.subcommand("add", "Add profiles to the ledger, or to its spool");
  auto options = std::make_shared<AddOptions>();
  command.option("FILE", options->files, "Profiles, or spool files").required();
  command
      .option("--database", options->database,
              "The ledger: a file of SQLite, or postgresql://[USER@]HOST/NAME; to read, also parquet:DIR")
      .placeholder("FILE");
  command.option("--spool", options->spool, "Write a file for each run into this directory, and open no database")
      .placeholder("DIR");
  command.option("--label", options->label, "In place of the labels that they were recorded with (halcyon run --label)")
      .placeholder("TEXT");
  command.option("--project", options->project, "The project that they belong to").placeholder("NAME");
  command
      .option("--slice", options->slice_seconds, "Seconds of a slice of time; longer ones in runs of more than an hour")
      .from_to(1, 86400)
      .with_default();
  command.flag("--replace", options->replace, "Replace runs that are in the ledger with other contents");
  command.notes(
      "A run that is in the ledger already is not added again, whatever its profile is called.\n"
      "Examples:\n"
      "  halcyon ledger add --database site.db --label v2.1 *.h5\n"
      "  halcyon ledger add --spool /shared/spool --project physics run.h5");
  command.does([options] { return add_to_ledger(*options); });
}

void add_ledger_ingest(const Command& ledger) {
  const Command command = ledger.subcommand("ingest", "Take the files of a spool into the ledger");
  auto options = std::make_shared<IngestOptions>();
  command.option("DIR", options->spool, "The spool").required();
  add_database_option(command, options->database);
  command.notes(
      "A file is removed when its run is stored for good: after a kill or a full disk, the next call goes on. What is "
      "cut\n"
      "off, damaged, from a newer halcyon or no spool file is moved into DIR/refused, with a file that says why.\n"
      "Exit status: 1, too, if some files were refused or left.\n"
      "Example: halcyon ledger ingest --database site.db /shared/spool");
  command.does([options] { return ingest_spool(*options); });
}

void add_ledger_slim(const Command& ledger) {
  const Command command = ledger.subcommand("slim", "Remove what is old from the ledger");
  auto options = std::make_shared<SlimOptions>();
  add_database_option(command, options->database);
  command.option("--keep", options->keep, "Remove runs that are older, with all that belongs to them")
      .placeholder("AGE")
      .check(objection_to_age);
  command
      .option("--keep-slices", options->keep_slices,
              "Remove slices of time that are older, which take most of the room")
      .placeholder("AGE")
      .check(objection_to_age);
  command.notes(
      "AGE is in days, weeks or years: 90d, 12w, 2y. PostgreSQL drops whole months where it can.\n"
      "Example: halcyon ledger slim --database site.db --keep 5y --keep-slices 90d");
  command.does([options] { return slim_ledger(*options); });
}

}  // namespace halcyon::cli
