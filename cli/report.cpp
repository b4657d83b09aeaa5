// halcyon report: the verdict on profiles, as text, JSON, CSV and HTML.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <nlohmann/json.hpp>

#include "analyzer/estimate/estimators.hpp"
#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/csv.hpp"
#include "report/first_lines.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/pipeline.hpp"
#include "report/quote.hpp"
#include "report/source_places.hpp"

namespace halcyon::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string json;
  std::string csv;
  std::string html;
  std::string method{methods.front().name};
  std::string quote;
  std::string fail_on;
  bool unknown_ok = false;
  std::string annotate;
  std::string junit;
  bool no_baseline = false;
};

// Of a run that did not come to its end, the verdict is only of what was recorded.
CheckOutcome outcome_of(const Profile& profile, const Analysis& analysis, const ReportOptions& options) {
  const Verdict verdict = analysis.result().verdict;
  const bool is_known = verdict != Verdict::unknown && is_whole(profile);
  if (!is_known && verdict != Verdict::red)
    return options.unknown_ok ? CheckOutcome::unknown_passed : CheckOutcome::unknown;
  const bool is_worse = verdict == Verdict::red || (verdict == Verdict::yellow && options.fail_on == "yellow");
  return is_worse ? CheckOutcome::failed : CheckOutcome::passed;
}

// Of several runs, a verdict worse than allowed outweighs an unknown one.
int status_for(const std::vector<CheckedRun>& runs) {
  const auto is_any = [&runs](CheckOutcome outcome) {
    return std::ranges::find(runs, outcome, &CheckedRun::outcome) != runs.end();
  };
  return is_any(CheckOutcome::failed) ? negative_answer : is_any(CheckOutcome::unknown) ? no_answer : passed;
}

std::optional<std::string> objection_to(const ReportOptions& options) {
  const bool needs_fail_on = options.unknown_ok || !options.annotate.empty() || !options.junit.empty();
  if (needs_fail_on && options.fail_on.empty()) {
    return "--unknown-ok, --annotate and --junit tell how --fail-on ends: add --fail-on red";
  }
  return objection_to_places(
      {{"--json", options.json}, {"--csv", options.csv}, {"--html", options.html}, {"--junit", options.junit}});
}

void forget_earlier_runs(Profile& profile) {
  profile.known_runs.reset();
  for (ProbeColumns& probe : profile.probes) probe.known.clear();
}

int report(const ReportOptions& options) {
  if (const std::optional<std::string> objection = objection_to(options)) return fail(*objection);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  std::string csv = runs_csv_header();
  std::vector<SummaryRow> summary;
  std::string quotes;
  std::vector<CheckedRun> checked;
  std::vector<RunOnPage> page;
  int failed = passed;
  for (const std::string& file : options.files) {
    show_step("reading " + file);
    Outcome<Profile> profile = read_profile(file, Columns::analyzed);
    show_step("");
    if (!profile) {  // the others are taken
      failed = fail(profile.failure().message);
      if (!options.fail_on.empty()) {
        checked.push_back({.file = file,
                           .outcome = CheckOutcome::unknown,
                           .run_time_seconds = 0.0,
                           .verdict = "unreadable",
                           .words = profile.failure().message,
                           .details = ""});
      }
      continue;
    }
    if (options.no_baseline) forget_earlier_runs(*profile);
    show_step("analyzing " + file);
    find_source_places(*profile);
    const Grouping grouping = group_segments(*profile);
    Analysis analysis = analyze(*profile, grouping, options.method);
    show_step("");
    json.push_back(report_json(file, *profile, analysis));
    csv += run_csv({file, *profile, analysis});
    text += (text.empty() ? "" : "\n") + report_text(file, *profile, analysis, colour_for(STDOUT_FILENO));
    if (!options.quote.empty()) quotes += quote_of_run(*profile, analysis, quote_form_of(options.quote));
    summary.push_back(summary_row(file, analysis));
    if (!options.fail_on.empty()) {
      checked.push_back({.file = file,
                         .outcome = outcome_of(*profile, analysis, options),
                         .run_time_seconds = analysis.run_time_seconds,
                         .verdict = name_of(analysis.result().verdict),
                         .words = first_answers(*profile, analysis).front(),
                         .details = report_text(file, *profile, analysis, Colour::never)});
    }
    if (!options.html.empty()) page.push_back(on_page(file, std::move(*profile), grouping, std::move(analysis)));
  }
  if (!page.empty()) {
    if (const Status written = write_file(options.html, report_html(page)); !written) {
      return fail(written.failure().message);
    }
  }
  if (!options.csv.empty() && options.csv != "-" && !summary.empty()) {
    if (const Status written = write_file(options.csv, csv); !written) return fail(written.failure().message);
  }
  if (!options.junit.empty()) {
    if (const Status written = write_file(options.junit, junit_xml(checked)); !written) {
      return fail(written.failure().message);
    }
  }
  if (summary.size() > 1) text = summary_text(summary) + "\n" + text;
  if (!quotes.empty()) text = quotes;
  if (!options.annotate.empty()) {
    // Beside data on standard output, they go to standard error, where GitHub finds them, too.
    const bool is_data = options.json == "-" || options.csv == "-";
    if (is_data) std::fputs(github_annotations(checked).c_str(), stderr);
    if (!is_data) text += github_annotations(checked);
  }
  if (json.empty() && text.empty()) return failed;
  // One run is an object; several runs are a list of objects.
  const bool is_one = options.files.size() == 1 && json.size() == 1;
  const Status printed = print_result(options.csv == "-" ? csv : text, is_one ? json.front() : json, options.json);
  if (!printed) return fail(printed.failure().message);
  return failed != passed ? failed : status_for(checked);
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
  add_quote_option(command, options->quote);
  command.option("--fail-on", options->fail_on, "Exit with 3 if the verdict is this or worse, with 4 if it is unknown")
      .one_of({"yellow", "red"});
  command.flag("--unknown-ok", options->unknown_ok, "With --fail-on: an unknown verdict passes");
  command.option("--annotate", options->annotate, "With --fail-on: print an annotation for each run")
      .one_of({"github"});
  command.option("--junit", options->junit, "With --fail-on: write the outcome to FILE, as JUnit's XML").output_file();
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
      "  halcyon report run.h5 --quote latex\n"
      "  halcyon report run.h5 --fail-on red --unknown-ok --annotate github --junit halcyon.xml\n"
      "  halcyon report run1.h5 run2.h5 run3.h5 --html runs.html");
  command.does([options] { return report(*options); });
}

}  // namespace halcyon::cli
