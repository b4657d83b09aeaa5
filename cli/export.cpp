// halcyon export: a profile in the formats of other tools.
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>

#include "analyzer/estimators.hpp"
#include "cli/commands.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/csv.hpp"
#include "report/openmetrics.hpp"
#include "report/perfetto.hpp"

namespace halcyon::cli {
namespace {

struct Options {
  bool perfetto = false;
  bool openmetrics = false;
  bool csv = false;
  std::string file;
  std::string output;
  std::string method{methods.front().name};
};

/// For who waits at a terminal for longer than a moment: how far it is, in a line that is wiped at the end.
class ExportProgress {
 public:
  explicit ExportProgress(std::uint64_t segments) : segments_(segments) {}
  ~ExportProgress() {
    if (is_shown_) std::fputs("\r\x1b[K", stderr);
  }
  ExportProgress(const ExportProgress&) = delete;
  ExportProgress& operator=(const ExportProgress&) = delete;

  void operator()(std::uint64_t done) {
    constexpr auto a_moment = std::chrono::seconds(2);
    if (isatty(STDERR_FILENO) == 0 || std::chrono::steady_clock::now() - began_ < a_moment) return;
    is_shown_ = true;
    std::fprintf(stderr, "\r\x1b[Kexporting: %.0f %% of %llu segments",
                 100.0 * static_cast<double>(done) / static_cast<double>(segments_),
                 static_cast<unsigned long long>(segments_));
    std::fflush(stderr);
  }

 private:
  std::uint64_t segments_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool is_shown_ = false;
};

void write(std::ostream& out, const Options& options, const Profile& profile) {
  const Grouping grouping = group_segments(profile);
  const Detail kept = options.openmetrics ? Detail::groups : Detail::segments;
  const Analysis analysis = analyze(profile, grouping, options.method, methods, kept);
  const AnalyzedFile run{options.file, profile, analysis};
  ExportProgress progress(profile.segments);
  const SegmentsDone done = [&progress](std::uint64_t segments) { progress(segments); };
  if (options.perfetto) write_perfetto(out, run, grouping, done);
  if (options.openmetrics) out << openmetrics(run);
  if (options.csv) write_segments_csv(out, run, grouping, done);
}

int export_file(const Options& options) {
  const Outcome<Profile> profile = read_profile(options.file);
  if (!profile) return fail(profile.failure().message);
  if (options.output.empty()) {
    write(std::cout, options, *profile);
    return std::cout.flush() ? int{passed} : fail("cannot write to standard output");
  }
  const Status written = write_file(options.output, [&](std::ostream& out) { write(out, options, *profile); });
  return written ? int{passed} : fail(written.failure().message);
}

}  // namespace

void add_export(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("export", "Write what a profile holds, judged, in the format of another tool");
  auto options = std::make_shared<Options>();
  auto* format = command->add_option_group("Format", "One of");
  format->add_flag("--perfetto", options->perfetto, "A trace for Perfetto or Chrome: segments, interfered ones marked");
  format->add_flag("--openmetrics", options->openmetrics, "The run's figures for monitoring, as OpenMetrics text");
  format->add_flag("--csv", options->csv, "A table with a row a segment");
  format->require_option(1);
  command->add_option("FILE", options->file, "Profile")->required();
  command->add_option("-o,--output", options->output, "Write to FILE instead of standard output")->type_name("FILE");
  add_method_option(*command, options->method);
  command->footer(
      "Exit status: 0 written, 2 bad usage or file.\n"
      "Example: halcyon export --perfetto run.h5 -o run.json    and open it at ui.perfetto.dev");
  command->callback([options, &chosen] { chosen = [options] { return export_file(*options); }; });
}

}  // namespace halcyon::cli
