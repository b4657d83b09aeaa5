// The result of `halcyon map` as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/search/surface.hpp"
#include "report/series/result.hpp"
#include "report/series/varied_run.hpp"

namespace halcyon {

/// A measured point of the grid.
struct MeasuredPoint {
  Point point;
  std::vector<double> responses;  // of its runs

  double mean() const;
};

struct MapResult {
  std::string command;
  bool is_time = true;  // the response; otherwise a number that the program prints
  std::vector<Factor> factors;
  std::vector<VariedRun> runs;        // in the order of time
  std::vector<MeasuredPoint> points;  // in the order in which they were first measured
  double confidence = 0.95;
  std::optional<Surface> surface;  // nothing: too few points
  std::string ended_early;         // why; empty if all points were measured
};

/// The point as it was measured; null if it was not.
const MeasuredPoint* measured_at(const MapResult& result, const Point& point);

SeriesAnswer answer_of(const MapResult& result);
/// Sentences below the answer.
std::vector<std::string> remarks_on(const MapResult& result);
SeriesTable points_table(const MapResult& result);
std::string map_text(const MapResult& result);
nlohmann::ordered_json map_json(const MapResult& result);

}  // namespace halcyon
