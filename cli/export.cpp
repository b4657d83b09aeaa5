// halcyon export: writes a profile in the formats of other tools.
#include <fmt/format.h>

#include <chrono>
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
  bool perfetto = false;
  bool openmetrics = false;
  bool csv = false;
  std::string file;
  std::string output;
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

void write(std::ostream& out, const ExportOptions& options, const Profile& profile) {
  show_step("analyzing " + options.file);
  const Grouping grouping = group_segments(profile);
  const Analysis analysis = analyze(profile, grouping, options.method);
  show_step("");
  const AnalyzedFile run{options.file, profile, analysis};
  const ShownProgress progress(profile.segments);
  const SegmentsDone done = [&progress](std::uint64_t segments) { progress(segments); };
  if (options.perfetto) write_perfetto(out, run, grouping, done);
  if (options.openmetrics) out << openmetrics(run);
  if (options.csv) write_segments_csv(out, run, grouping, done);
}

int export_file(const ExportOptions& options) {
  show_step("reading " + options.file);
  Outcome<Profile> profile = read_profile(options.file);
  show_step("");
  if (!profile) return fail(profile.failure().message);
  if (options.perfetto) find_source_places(*profile);
  if (options.output.empty()) {
    write(std::cout, options, *profile);
    return std::cout.flush() ? int{passed} : fail("cannot write to standard output");
  }
  const Status written = write_file(options.output, [&](std::ostream& out) { write(out, options, *profile); });
  return written ? int{passed} : fail(written.failure().message);
}

}  // namespace

void add_export(const Command& program) {
  const Command command = program.subcommand("export", "Write a profile and its verdict in the format of another tool");
  auto options = std::make_shared<ExportOptions>();
  const Command format = command.alternatives("Format");
  format.flag("--perfetto", options->perfetto, "Trace for Perfetto: segments, with disturbed ones marked");
  format.flag("--openmetrics", options->openmetrics, "Figures of the run for monitoring, as OpenMetrics text");
  format.flag("--csv", options->csv, "Table with one row per segment");
  command.option("FILE", options->file, "Profile").required();
  command.option("-o,--output", options->output, "Write to FILE instead of standard output").output_file();
  add_method_option(command, options->method);
  command.notes(
      "Give one of --perfetto, --openmetrics and --csv.\n"
      "Exit status: 0 written, 2 bad usage or file.\n"
      "Example: halcyon export --perfetto run.h5 -o run.pftrace    and open it at ui.perfetto.dev");
  command.does([options] { return export_file(*options); });
}

}  // namespace halcyon::cli
