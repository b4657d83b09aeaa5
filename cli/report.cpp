// halcyon report: the verdict on profiles, as text and JSON.
#include <memory>

#include "analyzer/estimators.hpp"
#include "cli/commands.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "report/json.hpp"

namespace halcyon::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string json;
  std::string method{methods.front().name};
  std::string fail_on;
};

// Worse first; an unknown verdict passes only if nobody asked.
int status_for(Verdict verdict, const std::string& fail_on) {
  if (fail_on.empty()) return passed;
  if (verdict == Verdict::unknown) return unknown_verdict;
  const bool worse = verdict == Verdict::red || (verdict == Verdict::yellow && fail_on == "yellow");
  return worse ? worse_than_allowed : passed;
}

int report(const Options& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  int status = passed;
  const auto worst = [&status](int other) {
    // A verdict that is too bad outweighs one that is missing.
    if (other == worse_than_allowed || status == passed) status = other;
  };
  for (const std::string& file : options.files) {
    const Outcome<Profile> profile = read_profile(file, Columns::analyzed);
    if (!profile) return fail(profile.failure().message);
    const Analysis analysis = analyze(*profile, options.method);
    json.push_back(report_json(file, *profile, analysis));
    text += (text.empty() ? "" : "\n") + report_text(file, *profile, analysis, colour_for(STDOUT_FILENO));
    worst(status_for(analysis.result().verdict, options.fail_on));
  }
  // One run is one object; of several, a list of them.
  const Status printed = print_result(text, json.size() == 1 ? json.front() : json, options.json);
  return printed ? status : fail(printed.failure().message);
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  auto* command = app.add_subcommand("report", "Say how much of a run's time came from outside");
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const Method& method : methods) names.emplace_back(method.name);
  command->add_option("FILE", options->files, "Profiles")->required();
  add_json_option(*command, options->json);
  command->add_option("--method", options->method, "The estimator that speaks for the run")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--fail-on", options->fail_on, "Exit with 3 if the verdict is this or worse, 4 if it is unknown")
      ->check(CLI::IsMember({"yellow", "red"}));
  command->footer(
      "Exit status: 0 passed, 2 bad usage or file, 3 worse than --fail-on allows, 4 unknown with --fail-on.\n"
      "Example: halcyon report run.h5 --fail-on red && publish-the-number");
  command->callback([options, &chosen] { chosen = [options] { return report(*options); }; });
}

}  // namespace halcyon::cli
