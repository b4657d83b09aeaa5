#include "cli/series/repeat_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/quantity.hpp"
#include "cli/series/varied_runs.hpp"

namespace halcyon::cli {
namespace {

Outcome<Launched> launched(const Words& command) {
  Outcome<Launcher> launcher = launcher_to_start(command);
  if (!launcher) return launcher.failure();
  return Launched{command, std::move(*launcher)};
}

// When the series ends. The rest of the request must be known.
Outcome<StoppingRule> rule_of(const RepeatOptions& options, const RepeatRequest& request) {
  if (options.exact_runs > 0 && (options.least_runs > 0 || options.most_runs > 0)) {
    return Failure{"--runs excludes --min-runs and --max-runs"};
  }
  const int most = std::max(options.most_runs, options.exact_runs);
  constexpr int fewest_of_a_line = 3;
  if (request.work && most > 0 && most < fewest_of_a_line) return Failure{"--work needs three runs or more"};
  if (most > 0 && most < options.least_runs) {
    return Failure{fmt::format("--max-runs {} is less than --min-runs {}", options.most_runs, options.least_runs)};
  }
  const double within = request.precision.within_percent;
  StoppingRule rule{.within_percent = request.programs.size() > 1 ? versus_half_width_percent(within) : within};
  rule.is_exact = options.exact_runs > 0;
  if (most > 0) {
    rule.most_runs = static_cast<std::size_t>(most);
    rule.least_runs = options.exact_runs > 0 ? *rule.most_runs : std::min(rule.least_runs, *rule.most_runs);
  }
  if (options.least_runs > 0) rule.least_runs = static_cast<std::size_t>(options.least_runs);
  if (!options.most_time.empty()) rule.most_seconds = *seconds_in(options.most_time);
  return rule;
}

constexpr const char* against_itself = "itself";  // in place of a command

struct AskedText {
  const char* name;
  std::string RepeatOptions::*value;
  std::string (*objection)(const std::string& text);
};
struct AskedNumber {
  const char* name;
  int RepeatOptions::*value;
};
constexpr AskedText asked_texts[] = {{"within", &RepeatOptions::within, objection_to_within},
                                     {"confidence", &RepeatOptions::confidence, objection_to_confidence},
                                     {"for", &RepeatOptions::most_time, objection_to_most_time},
                                     {"warmup", &RepeatOptions::warm_up, objection_to_warm_up},
                                     {"fail-on", &RepeatOptions::fail_on, objection_to_fail_on}};
constexpr AskedNumber asked_numbers[] = {{"min-runs", &RepeatOptions::least_runs},
                                         {"max-runs", &RepeatOptions::most_runs},
                                         {"runs", &RepeatOptions::exact_runs}};

}  // namespace

std::string objection_to_within(const std::string& text) {
  const std::optional<double> value = percent_in(text);
  return value && *value >= 0.01 && *value < 100.0 ? std::string()
                                                   : "'" + text + "' is not a percentage from 0.01% to below 100%";
}

std::string objection_to_most_time(const std::string& text) {
  return seconds_in(text) ? std::string() : "'" + text + "' is not a time such as 90s, 30min or 2h";
}

std::string objection_to_warm_up(const std::string& text) {
  return text == "auto" || whole_number_in(text) ? std::string() : "'" + text + "' is not auto or a whole number";
}

std::string objection_to_fail_on(const std::string& text) {
  return text == "unknown" || text == "slower" || text == "faster" ? std::string()
                                                                   : "'" + text + "' is not unknown, slower or faster";
}

std::string objection_to_work(const std::string& text) {
  return varied_work(text) ? std::string()
                           : "'" + text + "' is not NAME=FROM..TO with whole numbers from 1 to below 10^15";
}

std::optional<VariedWork> varied_work(const std::string& text) {
  const Outcome<VariedRange> varied = parse_varied_range(text);
  constexpr double most = 1e15;  // from there on, a whole number is not written in full
  if (!varied || !varied->is_whole || varied->range.low < 1.0 || varied->range.high >= most) return std::nullopt;
  return VariedWork{varied->name,
                    {static_cast<std::uint64_t>(varied->range.low), static_cast<std::uint64_t>(varied->range.high)}};
}

Outcome<RepeatRequest> request_of(const RepeatOptions& options, const Words& launch) {
  RepeatRequest request;
  request.prepare = options.prepare;
  request.recording = options.recording;
  Outcome<Launched> a = launched(launch);
  if (!a) return a.failure();
  request.programs.push_back(std::move(*a));
  if (!options.versus.empty() && options.is_against_itself) return Failure{"--aa and --versus exclude each other"};
  if (options.versus.size() >= most_programs) {
    return Failure{fmt::format("--versus: at most {} programs are compared with the first one", most_programs - 1)};
  }
  if (options.is_against_itself) request.programs.push_back(request.programs.front());
  for (const std::string& command : options.versus) {
    const Outcome<Words> words = words_of_command(command);
    if (!words) return Failure{"--versus: " + words.failure().message};
    Outcome<Launched> other = launched(*words);
    if (!other) return Failure{"--versus: " + other.failure().message};
    request.programs.push_back(std::move(*other));
  }
  const bool is_comparison = request.programs.size() > 1;
  if (!options.fail_on.empty() && options.fail_on != "unknown" && !is_comparison) {
    return Failure{"--fail-on " + options.fail_on + " needs --versus or --aa"};
  }
  if (!options.work.empty()) {
    if (is_comparison) return Failure{"--work cannot be combined with --versus or --aa"};
    request.work = *varied_work(options.work);
    if (const std::optional<std::string> objection = objection_to_command(launch, {request.work->name}, "--work")) {
      return Failure{*objection};
    }
  }
  request.precision = {
      .within_percent = *percent_in(options.within.empty() ? default_within : options.within),
      .confidence = 0.01 * *percent_in(options.confidence.empty() ? default_confidence : options.confidence)};
  const Outcome<StoppingRule> rule = rule_of(options, request);
  if (!rule) return rule.failure();
  request.rule = *rule;
  if (options.warm_up != "auto") {
    request.warm_up_runs = static_cast<std::size_t>(whole_number_in(options.warm_up).value_or(0));
  }
  return request;
}

Environment options_of(const RepeatOptions& options) {
  Environment all = rank_environment(options.recording);
  all.emplace_back("prepare", options.prepare);
  all.emplace_back("versus", options.is_against_itself ? against_itself
                             : options.versus.empty()  ? ""
                                                       : options.versus.front());
  for (std::size_t other = 1; other < options.versus.size(); ++other) {  // each option has a name of its own
    all.emplace_back(fmt::format("versus-{}", other + 1), options.versus[other]);
  }
  all.emplace_back("work", options.work);
  return all;
}

Environment asked_of(const RepeatOptions& options) {
  Environment all;
  for (const AskedText& asked : asked_texts) all.emplace_back(asked.name, options.*asked.value);
  for (const AskedNumber& asked : asked_numbers) {
    all.emplace_back(asked.name, options.*asked.value > 0 ? std::to_string(options.*asked.value) : "");
  }
  all.emplace_back("no-baseline", options.no_baseline ? "yes" : "");
  return all;
}

Status take_over(RepeatOptions& options, const SeriesPurpose& purpose) {
  const auto damaged = [&options](const std::string& name, const std::string& why) {
    return Failure{options.resumed + "/series.json is damaged: " + name + ": " + why};
  };
  const bool is_alone = options.versus.empty() && !options.is_against_itself;
  for (const auto& [name, value] : purpose.options) {
    if (name == "prepare" && options.prepare.empty()) options.prepare = value;
    if (name == "work" && options.work.empty() && !value.empty()) {
      if (const std::string why = objection_to_work(value); !why.empty()) return damaged(name, why);
      options.work = value;
    }
    if (!is_alone || !name.starts_with("versus") || value.empty()) continue;
    if (value == against_itself) {
      options.is_against_itself = true;
    } else {
      options.versus.push_back(value);
    }
  }
  const RepeatOptions given = options;
  // An exact number excludes the others.
  const bool is_exact = options.exact_runs > 0;
  const bool is_between = options.least_runs > 0 || options.most_runs > 0;
  const auto is_replaced = [&](int RepeatOptions::*number) {
    return options.*number > 0 || (number == &RepeatOptions::exact_runs ? is_between : is_exact);
  };
  for (const auto& [name, value] : purpose.asked) {
    if (value.empty()) continue;
    if (name == "no-baseline") options.no_baseline = true;
    for (const AskedText& asked : asked_texts) {
      if (name != asked.name || !(options.*asked.value).empty()) continue;
      if (const std::string why = asked.objection(value); !why.empty()) return damaged(name, why);
      options.*asked.value = value;
    }
    for (const AskedNumber& asked : asked_numbers) {
      if (name != asked.name || is_replaced(asked.value)) continue;
      const std::optional<std::uint64_t> number = whole_number_in(value);
      if (!number || *number < 2 || *number > most_runs_of_a_series) {
        return damaged(name, "'" + value + "' is no number of runs");
      }
      options.*asked.value = static_cast<int>(*number);
    }
  }
  // A number that was given holds against one that was asked for when the series began.
  if (options.most_runs > 0 && options.least_runs > options.most_runs) {
    (given.least_runs > 0 ? options.most_runs : options.least_runs) = 0;
  }
  return Done{};
}

}  // namespace halcyon::cli
