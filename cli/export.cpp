// halcyon export: writes a profile in the formats of other tools.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>

#include "analyzer/estimate/estimators.hpp"
#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/system/plural.hpp"
#include "report/csv.hpp"
#include "report/openmetrics.hpp"
#include "report/perfetto.hpp"
#include "report/source_places.hpp"

namespace halcyon::cli {
namespace {

struct ExportOptions {
  std::string perfetto;
  std::string openmetrics;
  std::string csv;
  std::string file;
  std::string method{methods.front().name};
};

/// Shows the progress of an export that takes longer than two seconds.
class ShownProgress {
 public:
  explicit ShownProgress(std::uint64_t segments) : segments_(segments) {}
  ~ShownProgress() { show_step(""); }
  ShownProgress(const ShownProgress&) = delete;
  ShownProgress& operator=(const ShownProgress&) = delete;

  void operator()(std::uint64_t done) const {
    constexpr auto a_moment = std::chrono::seconds(2);
    if (std::chrono::steady_clock::now() - began_ < a_moment) return;
    show_step(fmt::format("exporting: {:.0f} % of {}",
                          100.0 * static_cast<double>(done) / static_cast<double>(segments_),
                          plural(segments_, "segment")));
  }

 private:
  std::uint64_t segments_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// A format that was asked for.
struct Format {
  std::string where;
  std::function<void(std::ostream& out)> write;
};

Status write(const Format& format) {
  if (format.where.empty()) return Done{};
  if (format.where != "-") return write_file(format.where, format.write);
  format.write(std::cout);
  return std::cout.flush() ? Status(Done{}) : Failure{"cannot write to standard output"};
}

int export_file(const ExportOptions& options) {
  if (options.perfetto.empty() && options.openmetrics.empty() && options.csv.empty()) {
    return fail("name a format and where to write it: --perfetto, --openmetrics or --csv, each with FILE or -");
  }
  if (const auto objection = objection_to_places(
          {{"--perfetto", options.perfetto}, {"--openmetrics", options.openmetrics}, {"--csv", options.csv}})) {
    return fail(*objection);
  }
  show_step("reading " + options.file);
  Outcome<Profile> profile = read_profile(options.file);
  show_step("");
  if (!profile) return fail(profile.failure().message);
  if (!options.perfetto.empty()) find_source_places(*profile);
  show_step("analyzing " + options.file);
  const Grouping grouping = group_segments(*profile);
  const Analysis analysis = analyze(*profile, grouping, options.method);
  show_step("");
  const AnalyzedFile run{options.file, *profile, analysis};
  const ShownProgress progress(profile->segments);
  const SegmentsDone done = [&progress](std::uint64_t segments) { progress(segments); };
  for (const Format& format :
       {Format{options.perfetto, [&](std::ostream& out) { write_perfetto(out, run, grouping, done); }},
        Format{options.openmetrics, [&](std::ostream& out) { out << openmetrics(run); }},
        Format{options.csv, [&](std::ostream& out) { write_segments_csv(out, run, grouping, done); }}}) {
    if (const Status written = write(format); !written) return fail(written.failure().message);
  }
  return passed;
}

}  // namespace

void add_export(const Command& program) {
  const Command command = program.subcommand("export", "Write a profile and its verdict in the format of another tool");
  auto options = std::make_shared<ExportOptions>();
  command.option("FILE", options->file, "Profile").required();
  add_perfetto_option(command, options->perfetto);
  add_openmetrics_option(command, options->openmetrics);
  add_csv_option(command, options->csv, "segment");
  add_method_option(command, options->method);
  command.notes(
      "Give one of --perfetto, --openmetrics and --csv, or more.\n"
      "Example: halcyon export --perfetto run.pftrace run.h5    and open it at ui.perfetto.dev");
  command.does([options] { return export_file(*options); });
}

}  // namespace halcyon::cli
