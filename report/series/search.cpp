#include "report/series/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

std::string mean_words(const SearchResult& result, const TriedLoad& tried) {
  if (tried.failed > 0) return "a run failed";
  const bool is_time = result.request.limit.response == Response::time;
  const std::string mean = response_words(is_time, tried.mean);
  if (!std::isfinite(tried.interval.high)) return mean;
  // Few trials that vary much have an interval that begins below 0, where no time is.
  const double low = is_time ? std::max(0.0, tried.interval.low) : tried.interval.low;
  return fmt::format("{} ({} to {})", mean, response_words(is_time, low), response_words(is_time, tried.interval.high));
}

std::string at_words(const SearchResult& result, const TriedLoad& tried) {
  return fmt::format("{} = {}", result.name, value_text(tried.load));
}

std::string standing_words(const TriedLoad& tried) {
  switch (tried.standing) {
    case Standing::open: return "not yet known";
    case Standing::reached: return "at the limit";
    case Standing::meets: return tried.is_sure ? "met" : "met, not surely";
    case Standing::fails: break;
  }
  return tried.is_sure ? "not met" : "not met, not surely";
}

std::vector<TriedLoad> by_load(std::vector<TriedLoad> tried) {
  std::sort(tried.begin(), tried.end(), [](const TriedLoad& a, const TriedLoad& b) { return a.load < b.load; });
  return tried;
}

// Whether the answer's interval holds responses that do not meet the limit.
bool reaches_beyond(const SearchResult& result, const TriedLoad& answer) {
  const ResponseLimit& limit = result.request.limit;
  return !limit.is_met_by(limit.is_upper ? answer.interval.high : answer.interval.low);
}

std::string answer_words(const SearchResult& result) {
  const SearchState& state = result.state;
  const std::string limit = text_of(result.request.limit);
  const std::string what = fmt::format("{} {} with {}", name_of(state.aim), result.name, limit);
  const auto known = [&](const TriedLoad& tried) {
    if (tried.failed > 0) return mean_words(result, tried);
    return fmt::format("{} is {}, from {}", name_of(result.request.limit.response), mean_words(result, tried),
                       plural(tried.trials, "run"));
  };
  const std::string best =
      state.answer ? fmt::format("The {} so far is {}: {}.", what, value_text(state.answer->load), known(*state.answer))
                   : fmt::format("No {} is known yet that meets {}.", result.name, limit);
  if (!state.end) return "The search did not come to its end. " + best;
  switch (*state.end) {
    case SearchEnd::reached:
      return fmt::format("The {} is about {}: {}, and lies within {:g} % of the limit.", what,
                         value_text(state.answer->load), known(*state.answer), 100.0 * result.request.region_inside);
    case SearchEnd::bracketed:
      return fmt::format("The {} is {}: {}.", what, value_text(state.answer->load), known(*state.answer));
    case SearchEnd::all_meet:
      return fmt::format("{} meets {}, and is the end of the range: {}.", at_words(result, *state.answer), limit,
                         known(*state.answer));
    case SearchEnd::none_meets:
      return fmt::format("No {} of the range meets {}: at {} = {}, {}.", result.name, limit, result.name,
                         value_text(state.beyond->load), known(*state.beyond));
    case SearchEnd::wrong_way:
      return fmt::format("{} does not meet {}, but comes nearer to it the {} {} is: use --find {}.",
                         at_words(result, *state.beyond), limit, state.aim == Aim::largest ? "larger" : "smaller",
                         result.name, name_of(state.aim == Aim::largest ? Aim::least : Aim::largest));
    case SearchEnd::noise:
      return "The runs vary too much: a load at the limit had the maximum number of runs, and is still not "
             "accurate enough. " +
             best;
    case SearchEnd::too_many_runs: break;
  }
  return fmt::format("The search ended after {}, the maximum. {}", plural(result.trials.size(), "run"), best);
}

ordered_json load_json(const TriedLoad& tried) {
  const bool has_mean = tried.trials > tried.failed;
  return {{"load", tried.load},
          {"runs", tried.trials},
          {"failed", tried.failed},
          {"mean", has_mean ? ordered_json(tried.mean) : ordered_json()},
          {"interval", has_mean && std::isfinite(tried.interval.low) ? interval_json(tried.interval) : ordered_json()},
          {"accuracy_percent", has_mean ? ordered_json(100.0 * tried.accuracy) : ordered_json()},
          {"limit", standing_words(tried)}};
}

}  // namespace

SeriesAnswer answer_of(const SearchResult& result) {
  SeriesAnswer answer{"Not yet known", answer_words(result), "yellow"};
  if (!result.state.end) return answer;
  switch (*result.state.end) {
    case SearchEnd::reached:
    case SearchEnd::bracketed:
    case SearchEnd::all_meet: return {"Found", std::move(answer.sentence), "green"};
    case SearchEnd::none_meets:
    case SearchEnd::wrong_way: return {"Not found", std::move(answer.sentence), "red"};
    case SearchEnd::noise:
    case SearchEnd::too_many_runs: break;
  }
  return answer;
}

SeriesTable loads_table(const SearchResult& result) {
  const bool has_time = result.request.limit.response == Response::time;
  SeriesTable table{.heading = "",
                    .program = {},
                    .columns = {{result.name, 10},
                                {"runs", 4},
                                {has_time ? "time" : std::string(name_of(result.request.limit.response)), 34, false},
                                {"limit", 0, false}},
                    .rows = {},
                    .legend = {}};
  for (const TriedLoad& tried : by_load(result.state.tried)) {
    table.rows.push_back(
        {{value_text(tried.load), std::to_string(tried.trials), mean_words(result, tried), standing_words(tried)}});
  }
  return table;
}

std::vector<std::string> remarks_on(const SearchResult& result) {
  const SearchState& state = result.state;
  std::vector<std::string> remarks;
  if (state.answer && state.end && reaches_beyond(result, *state.answer)) {
    remarks.emplace_back("The interval of its mean reaches beyond the limit.");
  }
  if (state.answer && state.beyond) {
    remarks.push_back(fmt::format("The nearest one tried that does not meet it: {1} {0}, {2}.", result.name,
                                  value_text(state.beyond->load), mean_words(result, *state.beyond)));
  }
  if (!state.is_monotone) remarks.emplace_back("The limit is crossed more than once, as the loads tried show.");
  if (std::string words = without_verdict_words(result.runs); !words.empty()) remarks.push_back(std::move(words));
  if (!result.ended_early.empty()) remarks.push_back("It ended early: " + result.ended_early);
  return remarks;
}

std::string search_text(const SearchResult& result) {
  std::string text = text_of(loads_table(result)) + "\n" + filled("", 0, answer_words(result));
  for (const std::string& remark : remarks_on(result)) text += filled("", 0, remark);
  return text;
}

ordered_json search_json(const SearchResult& result) {
  const SearchRequest& request = result.request;
  const SearchState& state = result.state;
  const auto load = [](const std::optional<TriedLoad>& tried) { return tried ? load_json(*tried) : ordered_json(); };
  ordered_json loads = ordered_json::array();
  for (const TriedLoad& tried : by_load(state.tried)) loads.push_back(load_json(tried));
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    ordered_json run = varied_run_json(result.runs[i], result.trials[i].response);
    run["load"] = result.runs[i].values.front();
    runs.push_back(std::move(run));
  }
  return {{"command", result.command},
          {"name", result.name},
          {"range", {request.range.low, request.range.high}},
          {"limit", text_of(request.limit)},
          {"find", name_of(state.aim)},
          {"by", name_of(request.pick)},
          {"accuracy_percent", 100.0 * request.accuracy},
          {"confidence_percent", 100.0 * request.confidence},
          {"stopped_because", state.end ? ordered_json(name_of(*state.end)) : ordered_json("ended-early")},
          {"ended_early", text_or_null(result.ended_early)},
          {"answer", load(state.answer)},
          {"beyond", load(state.beyond)},
          {"monotone", state.is_monotone},
          {"loads", loads},
          {"runs", runs}};
}

}  // namespace halcyon
