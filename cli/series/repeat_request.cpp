#include "cli/series/repeat_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/quantity.hpp"
#include "cli/series/varied_runs.hpp"

namespace halcyon::cli {
namespace {

// The words of a command in a shell's syntax. Nothing is expanded.
Outcome<Words> words_of(const std::string& text) {
  Words words;
  std::string word;
  bool is_in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (is_in_word) words.push_back(std::move(word));
      word.clear();
      is_in_word = false;
      continue;
    }
    is_in_word = true;
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (quote != 0) return Failure{fmt::format("--versus: {} is not closed in '{}'", quote, text)};
  if (is_in_word) words.push_back(std::move(word));
  if (words.empty()) return Failure{"--versus: no launch command given"};
  return words;
}

Outcome<Launched> launched(const Words& command) {
  Outcome<Launcher> launcher = launcher_of(command);
  if (!launcher) return launcher.failure();
  return Launched{command, std::move(*launcher)};
}

}  // namespace

std::optional<VariedWork> varied_work(const std::string& text) {
  const Outcome<VariedRange> varied = parse_varied_range(text);
  if (!varied || !varied->is_whole || varied->range.low < 1.0) return std::nullopt;
  return VariedWork{varied->name,
                    {static_cast<std::uint64_t>(varied->range.low), static_cast<std::uint64_t>(varied->range.high)}};
}

Outcome<RepeatRequest> request_of(const RepeatOptions& options, const Words& launch) {
  RepeatRequest request;
  request.prepare = options.prepare;
  request.recording = options.recording;
  Outcome<Launched> a = launched(launch);
  if (!a) return a.failure();
  request.a = std::move(*a);
  if (!options.versus.empty() && options.is_against_itself) return Failure{"--aa and --versus exclude each other"};
  if (options.is_against_itself) request.b = request.a;
  if (!options.versus.empty()) {
    const Outcome<Words> words = words_of(options.versus);
    if (!words) return words.failure();
    Outcome<Launched> b = launched(*words);
    if (!b) return Failure{"--versus: " + b.failure().message};
    request.b = std::move(*b);
  }
  if (!options.fail_on.empty() && !request.b) return Failure{"--fail-on needs --versus"};
  if (!options.work.empty()) {
    if (request.b) return Failure{"--work cannot be combined with --versus or --aa"};
    request.work = *varied_work(options.work);
    if (const std::optional<std::string> objection = objection_to_command(launch, {request.work->name}, "--work")) {
      return Failure{*objection};
    }
  }
  request.precision = {.within_percent = *percent_in(options.within),
                       .confidence = 0.01 * *percent_in(options.confidence)};
  request.rule.within_percent =
      request.b ? versus_half_width_percent(request.precision.within_percent) : request.precision.within_percent;
  request.rule.least_runs = static_cast<std::size_t>(options.least_runs);
  if (options.most_runs > 0) request.rule.most_runs = static_cast<std::size_t>(options.most_runs);
  if (options.exact_runs > 0) {
    request.rule.most_runs = static_cast<std::size_t>(options.exact_runs);
    request.rule.least_runs = std::max<std::size_t>(2, *request.rule.most_runs);
  }
  if (request.rule.most_runs && *request.rule.most_runs < request.rule.least_runs && options.exact_runs == 0) {
    return Failure{fmt::format("--max-runs {} is less than --min-runs {}", options.most_runs, options.least_runs)};
  }
  if (!options.most_time.empty()) request.rule.most_seconds = *seconds_in(options.most_time);
  if (options.warm_up != "auto") request.warm_up_runs = static_cast<std::size_t>(*whole_number_in(options.warm_up));
  return request;
}

Environment options_of(const RepeatOptions& options) {
  Environment all = rank_environment(options.recording);
  all.emplace_back("prepare", options.prepare);
  all.emplace_back("versus", options.is_against_itself ? "itself" : options.versus);
  all.emplace_back("work", options.work);
  return all;
}

}  // namespace halcyon::cli
