#include "cli/series/varied_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "cli/console/progress.hpp"
#include "cli/console/quantity.hpp"
#include "cli/launch/rank_options.hpp"
#include "libprofile/system/plural.hpp"
#include "report/json.hpp"
#include "report/words.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// How many characters at the beginning of `text` are the name of a value.
std::size_t name_length(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  constexpr std::size_t digits = 10;
  if (text.empty() || letters.substr(0, letters.size() - digits).find(text.front()) == std::string_view::npos) return 0;
  return std::min(text.find_first_not_of(letters), text.size());
}

bool is_name_of_value(const std::string& text) { return !text.empty() && name_length(text) == text.size(); }

std::pair<std::string, std::string> split(const std::string& text, const std::string& at) {
  const std::size_t place = text.find(at);
  if (place == std::string::npos) return {text, ""};
  return {text.substr(0, place), text.substr(place + at.size())};
}

// ranks-16_size-2.5_run-1: a launcher passes it to ranks, so that it has neither '=' nor ','.
std::string name_of_run(const std::vector<std::string>& names, const std::vector<double>& values, std::size_t number) {
  std::string name;
  for (std::size_t i = 0; i < names.size(); ++i) name += names[i] + "-" + value_text(values[i]) + "_";
  return name + "run-" + std::to_string(number);
}

std::optional<std::vector<double>> values_in(std::string_view name, const std::vector<std::string>& names) {
  std::vector<double> values;
  for (const std::string& each : names) {
    if (!name.starts_with(each + "-")) return std::nullopt;
    name.remove_prefix(each.size() + 1);
    const std::optional<double> value = number_in(name.substr(0, name.find('_')));
    if (!value) return std::nullopt;
    values.push_back(*value);
    name.remove_prefix(std::min(name.size(), name.find('_') + 1));
  }
  return values;
}

// Neither limits nor ranges: a search can go on with others.
SeriesPurpose purpose_of(const VariedRunsSetting& setting, const RankOptions& recording) {
  Environment options = rank_environment(recording);
  options.emplace_back("vary", fmt::format("{}", fmt::join(setting.names, " ")));
  return {.subcommand = setting.subcommand, .command = setting.launch, .options = std::move(options)};
}

// The last number that a line of the file gives.
std::optional<double> number_read(const std::string& file, const NumberFinder& find) {
  std::optional<double> number;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (const std::optional<double> found = find(line)) number = found;
  }
  return number;
}

// The NAME of each {NAME} in a word. A shell's ${NAME} is none.
std::vector<std::string> names_in(std::string_view word) {
  std::vector<std::string> names;
  for (std::size_t at = word.find('{'); at != std::string_view::npos; at = word.find('{', at + 1)) {
    const std::size_t length = name_length(word.substr(at + 1));
    const bool is_closed = word.substr(at + 1 + length).starts_with('}');
    const bool is_of_shell = at > 0 && word[at - 1] == '$';
    if (length > 0 && is_closed && !is_of_shell) names.emplace_back(word.substr(at + 1, length));
  }
  return names;
}

// Why a value cannot be varied; empty if it can be. `written`: as the user gave it.
std::string objection_to_value(double value, const std::string& written) {
  constexpr double most = 1e15;  // from there on, a whole number is not written in full
  if (put_into_command(value) == value && std::abs(value) < most) return "";
  return fmt::format("{} would be {} in the command: give whole numbers below 10^15, or at most six digits", written,
                     value_text(value));
}

}  // namespace

Words with_values(const Words& launch, const std::vector<std::string>& names, const std::vector<double>& values) {
  Words words = launch;
  for (std::string& word : words) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string placeholder = "{" + names[i] + "}";
      const std::string value = value_text(values[i]);
      for (std::size_t at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, at)) {
        const bool is_of_shell = at > 0 && word[at - 1] == '$';
        if (!is_of_shell) word.replace(at, placeholder.size(), value);
        at += is_of_shell ? placeholder.size() : value.size();
      }
    }
  }
  return words;
}

double put_into_command(double value) { return number_in(value_text(value)).value_or(value); }

Outcome<VariedRange> parse_varied_range(const std::string& text) {
  const auto [name, range] = split(text, "=");
  const auto [low, high] = split(range, "..");
  const std::optional<double> from = number_in(low);
  const std::optional<double> to = number_in(high);
  if (!is_name_of_value(name) || !from || !to) return Failure{"'" + text + "' is not NAME=A..B, such as ranks=1..64"};
  if (*from >= *to) return Failure{"'" + text + "': the second number must be larger than the first"};
  for (const auto& [number, written] : {std::pair(*from, low), {*to, high}}) {
    if (const std::string objection = objection_to_value(number, written); !objection.empty()) {
      return Failure{"'" + text + "': " + objection};
    }
  }
  const bool is_whole =
      *from == std::round(*from) && *to == std::round(*to) && (low + high).find_first_of(".eE") == std::string::npos;
  return VariedRange{name, {*from, *to}, is_whole};
}

Outcome<Factor> parse_factor(const std::string& text) {
  const auto [name, list] = split(text, "=");
  Factor factor{.name = name};
  std::size_t at = 0;
  while (at <= list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::optional<double> level = number_in(std::string_view(list).substr(at, end - at));
    if (!level || !is_name_of_value(name)) return Failure{"'" + text + "' is not NAME=LIST, such as ranks=1,2,4,8"};
    if (const std::string objection = objection_to_value(*level, list.substr(at, end - at)); !objection.empty()) {
      return Failure{"'" + text + "': " + objection};
    }
    factor.levels.push_back(*level);
    at = end + 1;
  }
  std::sort(factor.levels.begin(), factor.levels.end());
  if (std::adjacent_find(factor.levels.begin(), factor.levels.end()) != factor.levels.end()) {
    return Failure{"'" + text + "' has the same value twice"};
  }
  factor.logarithmic = is_geometric(factor.levels);
  return factor;
}

Outcome<double> parse_share(const std::string& text, const Interval& between) {
  const std::optional<double> percent = percent_in(text);
  if (!percent || *percent < 100.0 * between.low || *percent > 100.0 * between.high) {
    return Failure{
        fmt::format("'{}' is not a share from {:g}% to {:g}%", text, 100.0 * between.low, 100.0 * between.high)};
  }
  return 0.01 * *percent;
}

std::optional<std::string> objection_to_command(const Words& launch, const std::vector<std::string>& names,
                                                std::string_view option) {
  std::vector<std::string> used;
  for (const std::string& word : launch) {
    for (std::string& name : names_in(word)) used.push_back(std::move(name));
  }
  const auto is_in = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) return fmt::format("{}: {} is given twice", option, name);
    if (!is_in(used, name)) return fmt::format("the command does not contain {{{}}}, which {} varies", name, option);
  }
  for (const std::string& name : used) {
    if (!is_in(names, name))
      return fmt::format("{{{}}} of the command has no value: add it by {}, or remove it", name, option);
  }
  return std::nullopt;
}

Outcome<VariedRuns> VariedRuns::open(VariedRunsSetting setting, const VariedRunsOptions& options) {
  if (const auto objection = objection_to_command(setting.launch, setting.names, "--vary")) return Failure{*objection};
  const Outcome<Launcher> launcher = launcher_to_start(setting.launch);
  if (!launcher) return launcher.failure();
  NumberFinder read;
  if (!options.read.empty()) {
    Outcome<NumberFinder> finder = parse_read(options.read);
    if (!finder) return finder.failure();
    read = std::move(*finder);
  }
  if (!options.directory.empty() && !options.resumed.empty()) {
    return Failure{"-o and --resume: a series that is resumed stays in its directory"};
  }
  const SeriesPurpose purpose = purpose_of(setting, options.recording);
  Outcome<RunSeries> series = !options.resumed.empty()    ? RunSeries::resume(options.resumed, purpose)
                              : options.directory.empty() ? RunSeries::begin(purpose)
                                                          : RunSeries::begin(options.directory, purpose);
  if (!series) return series.failure();

  VariedRuns runs(std::move(*series));
  runs.setting_ = std::move(setting);
  runs.launcher_ = *launcher;
  runs.recording_ = options.recording;
  runs.read_ = std::move(read);
  std::string complaint;
  if (!options.no_baseline) runs.known_ = open_known(complaint);
  if (!complaint.empty()) tell(complaint);
  runs.take_from_series();
  return runs;
}

void VariedRuns::take_from_series() {
  for (const SeriesRun& run : series_.runs()) {
    std::optional<std::vector<double>> values = values_in(run.name, setting_.names);
    if (!values) continue;
    if (run.state == RunState::recorded) {
      // What was known of other runs is in the profile.
      show_step("analyzing " + run.name);
      const Outcome<JudgedFile> judged = judge_file((directory() / run.profile).string(), nullptr);
      Outcome<VariedRun> made = judged ? result_of(run.name, std::move(*values), *judged) : judged.failure();
      if (made) {
        runs_.push_back(std::move(*made));
      } else {
        tell(run.name + " is made again: " + made.failure().message);
      }
    } else if (run.state == RunState::failed && run.status != 0 && setting_.keeps_failed) {
      runs_.push_back({.name = run.name, .values = std::move(*values), .failed_with = run.status});
    }
  }
  show_step("");
}

Status VariedRuns::make(const std::vector<double>& values, SignalRelay& relay) {
  const std::string name = name_of_next_run(values);
  const Words command = with_values(setting_.launch, setting_.names, values);
  const auto run = [&](const std::string& profile, const std::string& log) {
    RecordedRunRequest request{
        .command = command, .launcher = launcher_, .options = recording_, .log = log, .lock = series_.lock()};
    request.options.output = profile;
    return run_recorded(request, relay);
  };
  const Outcome<std::string> profile = series_.record(name, command, run, relay);
  if (!profile) {
    const auto is_it = [&name](const SeriesRun& each) { return each.name == name; };
    const auto ended = std::find_if(series_.runs().begin(), series_.runs().end(), is_it);
    const bool failed = ended != series_.runs().end() && ended->state == RunState::failed && ended->status != 0;
    if (!failed || !setting_.keeps_failed) return profile.failure();
    runs_.push_back({.name = name, .values = values, .failed_with = ended->status});
    return Done{};
  }
  const Outcome<JudgedFile> judged = judge_file(*profile, known_ ? &*known_ : nullptr);
  if (!judged) return judged.failure();
  if (known_) {
    if (const std::string complaint = keep(&*known_, *judged, *profile); !complaint.empty()) tell(complaint);
  }
  Outcome<VariedRun> made = result_of(name, values, *judged);
  if (!made) return made.failure();
  runs_.push_back(std::move(*made));
  return Done{};
}

Outcome<VariedRun> VariedRuns::result_of(const std::string& name, std::vector<double> values,
                                         const JudgedFile& judged) const {
  const Analysis& analysis = judged.analysis;
  VariedRun run{.name = name,
                .values = std::move(values),
                .ranks = judged.profile.ranks,
                .run_time_seconds = judged.profile.run_time_seconds,
                .verdict = name_of(analysis.result().verdict)};
  if (!analysis.no_verdict) run.undisturbed_seconds = analysis.undisturbed_time_seconds();
  if (read_) {
    const std::string log = series_.log_of(name);
    run.printed = number_read(log, read_);
    if (!run.printed) return Failure{"no line of " + log + " matches --read with a number"};
  }
  return run;
}

std::string VariedRuns::name_of_next_run(const std::vector<double>& values) const {
  for (std::size_t number = 1;; ++number) {
    std::string name = name_of_run(setting_.names, values, number);
    const auto is_it = [&name](const VariedRun& run) { return run.name == name; };
    if (std::none_of(runs_.begin(), runs_.end(), is_it)) return name;
  }
}

std::string VariedRuns::next_words(const std::vector<double>& values) const {
  const auto words = [this](const std::vector<double>& those) {
    std::string text;
    for (std::size_t i = 0; i < those.size(); ++i) {
      text += fmt::format("{}{}={}", i > 0 ? " " : "", setting_.names[i], value_text(those[i]));
    }
    return text;
  };
  const auto distance = [&values](const VariedRun& run) {
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += std::abs(run.values[i] - values[i]) / std::max(std::abs(values[i]), 1.0);
    }
    return sum;
  };
  const VariedRun* nearest = nullptr;
  for (const VariedRun& run : runs_) {
    if (!run.failed_with && (nearest == nullptr || distance(run) <= distance(*nearest))) nearest = &run;
  }
  std::string text = words(values);
  if (nearest == nullptr) return text;
  const double seconds = nearest->run_time_seconds;
  const std::string took = seconds < 10.0 ? fmt::format("{:.2g} s", seconds) : duration_text(seconds);
  if (nearest->values == values) return text + " again, about " + took;
  return text + "; " + words(nearest->values) + " took " + took;
}

void add_varied_runs_options(const Command& command, VariedRunsOptions& options) {
  command
      .option(
          "--read", options.read,
          "Regular expression for the number in the program's output: the first match of the last line that has one")
      .placeholder("REGEX");
  command
      .option("-o,--output", options.directory,
              "New or empty directory for profiles, logs and results. Default: a new one, named after the time")
      .placeholder("DIR");
  command
      .option("--resume", options.resumed,
              "Continue with the runs in this directory; varied values may be different now")
      .placeholder("DIR");
  add_json_option(command, options.json);
  add_html_option(command, options.html);
  add_recording_options(command, options.recording);
  add_no_baseline_flag(command, options.no_baseline);
}

Status write_varied_results(const VariedRuns& runs, const std::string& name, const VariedRunsOptions& options,
                            const std::string& text, const nlohmann::ordered_json& document,
                            const std::function<std::string()>& page) {
  Status written = write_file((runs.directory() / name).string(), to_text(document));
  const std::string kept = written ? "profiles, logs and " + name : "profiles and logs";
  if (const Status printed = print_result_anyway(text, document, options.json); !printed) written = printed;
  if (!options.html.empty()) {
    if (const Status drawn = write_file(options.html, page()); !drawn) written = drawn;
  }
  tell(kept + " are in " + runs.directory().string());
  return written;
}

}  // namespace halcyon::cli
