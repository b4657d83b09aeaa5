#include "report/series/map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/json.hpp"
#include "report/layout.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using nlohmann::ordered_json;

std::string predicted_words(const MapResult& result, const Point& point) {
  if (!result.surface) return "–";
  const std::string value = response_words(result.is_time, result.surface->at(point));
  const auto interval = result.surface->interval_at(point, result.confidence);
  if (!interval) return value;
  return fmt::format("{} ({} to {})", value, response_words(result.is_time, interval->low),
                     response_words(result.is_time, interval->high));
}

std::string sentence(const MapResult& result, std::size_t grid) {
  if (!result.surface) {
    return fmt::format("There is no surface yet: {} of {} cannot determine it.", result.points.size(),
                       plural(grid, "point"));
  }
  const std::string from = fmt::format("Fitted to {} of {} by a quadratic of the {}", result.points.size(),
                                       plural(grid, "point"), result.surface->logarithmic ? "logarithm" : "response");
  if (result.surface->error_left_out_percent) {
    return fmt::format("{}. Points left out for a test were predicted to {:.1f} % in the mean.", from,
                       *result.surface->error_left_out_percent);
  }
  if (result.surface->degrees_of_freedom < 1) {
    return from + ". Its error is not known, since there are no more points than it needs: measure more (--points).";
  }
  if (std::any_of(result.points.begin(), result.points.end(),
                  [](const MeasuredPoint& point) { return point.mean() == 0.0; })) {
    return from + ". Its error in percent is not known, since a measured response is 0.";
  }
  return from + ". Its error is not known, since the surface needs one of the points: measure more (--points).";
}

}  // namespace

double MeasuredPoint::mean() const {
  return std::accumulate(responses.begin(), responses.end(), 0.0) / static_cast<double>(responses.size());
}

const MeasuredPoint* measured_at(const MapResult& result, const Point& point) {
  const auto found = std::find_if(result.points.begin(), result.points.end(),
                                  [&point](const MeasuredPoint& each) { return each.point == point; });
  return found != result.points.end() ? &*found : nullptr;
}

SeriesAnswer answer_of(const MapResult& result) {
  const std::string words = sentence(result, grid_of(result.factors).size());
  if (!result.surface) return {"No surface yet", words, "yellow"};
  return {"Surface", words, result.surface->error_left_out_percent ? "green" : "yellow"};
}

std::vector<std::string> remarks_on(const MapResult& result) {
  std::vector<std::string> remarks;
  if (std::string words = without_verdict_words(result.runs); !words.empty()) remarks.push_back(std::move(words));
  if (!result.ended_early.empty()) remarks.push_back("It ended early: " + result.ended_early);
  return remarks;
}

SeriesTable points_table(const MapResult& result) {
  SeriesTable table;
  for (const Factor& factor : result.factors) {
    table.columns.push_back({factor.name, 10});
  }
  table.columns.push_back({"measured", 12});
  table.columns.push_back({"predicted", 0, false});
  for (const Point& point : grid_of(result.factors)) {
    std::vector<std::string> cells;
    for (const double level : point) cells.push_back(value_text(level));
    const MeasuredPoint* const measured = measured_at(result, point);
    cells.push_back(measured != nullptr ? response_words(result.is_time, measured->mean()) : "–");
    cells.push_back(predicted_words(result, point));
    table.rows.push_back({std::move(cells)});
  }
  return table;
}

std::string map_text(const MapResult& result) {
  std::string text = text_of(points_table(result)) + "\n" + filled("", 0, answer_of(result).sentence);
  for (const std::string& remark : remarks_on(result)) text += filled("", 0, remark);
  return text;
}

ordered_json map_json(const MapResult& result) {
  ordered_json factors = ordered_json::array();
  for (const Factor& factor : result.factors) {
    factors.push_back({{"name", factor.name}, {"values", factor.levels}, {"logarithmic", factor.logarithmic}});
  }
  ordered_json points = ordered_json::array();
  for (const Point& point : grid_of(result.factors)) {
    const MeasuredPoint* const measured = measured_at(result, point);
    ordered_json predicted;
    ordered_json interval;
    if (result.surface) {
      predicted = result.surface->at(point);
      if (const auto around = result.surface->interval_at(point, result.confidence)) {
        interval = {around->low, around->high};
      }
    }
    points.push_back({{"values", point},
                      {"runs", measured != nullptr ? measured->responses.size() : 0},
                      {"measured", measured != nullptr ? ordered_json(measured->mean()) : ordered_json()},
                      {"predicted", predicted},
                      {"interval", interval}});
  }
  ordered_json runs = ordered_json::array();
  for (const VariedRun& run : result.runs) {
    ordered_json each = varied_run_json(run, result.is_time ? run.seconds() : run.printed);
    each["values"] = run.values;
    runs.push_back(std::move(each));
  }
  ordered_json error;
  if (result.surface && result.surface->error_left_out_percent) error = *result.surface->error_left_out_percent;
  return {{"command", result.command},
          {"response", result.is_time ? "time" : "number"},
          {"factors", factors},
          {"confidence_percent", 100.0 * result.confidence},
          {"surface",
           result.surface ? ordered_json(result.surface->logarithmic ? "logarithmic" : "linear") : ordered_json()},
          {"error_left_out_percent", error},
          {"ended_early", text_or_null(result.ended_early)},
          {"points", points},
          {"runs", runs}};
}

}  // namespace halcyon
