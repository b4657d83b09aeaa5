// halcyon report: the verdict on profiles, as text, JSON, CSV and HTML.
#include <algorithm>
#include <memory>
#include <utility>
#include <nlohmann/json.hpp>

#include "analyzer/estimate/estimators.hpp"
#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/csv.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/source_places.hpp"

namespace halcyon::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string json;
  std::string csv;
  std::string html;
  std::string method{methods.front().name};
  std::string fail_on;
  bool no_baseline = false;
};

// An unknown verdict passes only without --fail-on.
int status_for(Verdict verdict, const std::string& fail_on) {
  if (fail_on.empty()) return passed;
  if (verdict == Verdict::unknown) return no_answer;
  const bool worse = verdict == Verdict::red || (verdict == Verdict::yellow && fail_on == "yellow");
  return worse ? negative_answer : passed;
}

void forget_earlier_runs(Profile& profile) {
  profile.known_runs.reset();
  for (ProbeColumns& probe : profile.probes) probe.known.clear();
}

int report(const ReportOptions& options) {
  if (const auto objection =
          objection_to_places({{"--json", options.json}, {"--csv", options.csv}, {"--html", options.html}})) {
    return misuse(*objection);
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  std::string csv = runs_csv_header();
  std::vector<SummaryRow> summary;
  std::vector<RunOnPage> page;
  int status = passed;
  const auto worst = [&status](int other) {
    // Of several runs, a verdict worse than allowed outweighs an unknown one.
    if (other == negative_answer || status == passed) status = other;
  };
  for (const std::string& file : options.files) {
    show_step("reading " + file);
    Outcome<Profile> profile = read_profile(file, Columns::analyzed);
    show_step("");
    if (!profile) return fail(profile.failure().message);
    if (options.no_baseline) forget_earlier_runs(*profile);
    show_step("analyzing " + file);
    find_source_places(*profile);
    const Grouping grouping = group_segments(*profile);
    Analysis analysis = analyze(*profile, grouping, options.method);
    show_step("");
    json.push_back(report_json(file, *profile, analysis));
    csv += run_csv({file, *profile, analysis});
    text += (text.empty() ? "" : "\n") + report_text(file, *profile, analysis, colour_for(STDOUT_FILENO));
    summary.push_back(summary_row(file, analysis));
    worst(status_for(analysis.result().verdict, options.fail_on));
    if (!options.html.empty()) page.push_back(on_page(file, std::move(*profile), grouping, std::move(analysis)));
  }
  if (!page.empty()) {
    if (const Status written = write_file(options.html, report_html(page)); !written) {
      return fail(written.failure().message);
    }
  }
  if (!options.csv.empty() && options.csv != "-") {
    if (const Status written = write_file(options.csv, csv); !written) return fail(written.failure().message);
  }
  if (summary.size() > 1) text = summary_text(summary) + "\n" + text;
  // One run is an object; several runs are a list of objects.
  const Status printed =
      print_result(options.csv == "-" ? csv : text, json.size() == 1 ? json.front() : json, options.json);
  return printed ? status : fail(printed.failure().message);
}

}  // namespace

void add_report(const Command& program) {
  const Command command = program.subcommand("report", "Say how much of a run's time came from outside");
  auto options = std::make_shared<ReportOptions>();
  command.option("FILE", options->files, "Profiles").required();
  add_json_option(command, options->json);
  add_csv_option(command, options->csv, "run");
  add_method_option(command, options->method);
  add_html_option(command, options->html);
  command.flag("--no-baseline", options->no_baseline,
               "Judge without the earlier runs that were known when the run was recorded");
  command.option("--fail-on", options->fail_on, "Exit with 3 if the verdict is this or worse, with 4 if it is unknown")
      .one_of({"yellow", "red"});
  command.notes(
      "A segment is the execution between two global synchronisations. Segments that do the same work should take the\n"
      "same time; time beyond that came from outside. The verdict is green if that is below 7.5 % of the run time, "
      "red\n"
      "above 15 %, else yellow.\n"
      "Methods: compound, the default, fits the distribution of the durations. It detects delays that hit some\n"
      "segments, and delays that hit nearly all. paper (Shah, Mueller and Wolf, 2018) detects only delays of some\n"
      "segments: it counts the time above median + 4 MAD of a group.\n"
      "Exit status: with --fail-on 3 worse than allowed, 4 not known.\n"
      "Examples:\n"
      "  halcyon report run.h5 --fail-on red && publish-the-number\n"
      "  halcyon report run1.h5 run2.h5 run3.h5 --html runs.html");
  command.does([options] { return report(*options); });
}

}  // namespace halcyon::cli
