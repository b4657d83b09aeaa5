#include "report/series/map.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "report/series/map_page.hpp"

namespace {

using namespace halcyon;

MapResult map_of(std::vector<Factor> factors, const std::vector<std::pair<Point, double>>& measured) {
  MapResult result{.command = "mpirun ./app", .factors = std::move(factors)};
  std::vector<Point> points;
  std::vector<double> responses;
  for (const auto& [point, response] : measured) {
    points.push_back(point);
    responses.push_back(response);
    result.points.push_back({point, {response}});
    result.runs.push_back({.values = point, .undisturbed_seconds = response});
  }
  result.surface = fit_better_surface(result.factors, points, responses);
  return result;
}

// Without line breaks.
std::string text_of(const MapResult& result) {
  std::string text = map_text(result);
  for (char& letter : text) letter = letter == '\n' ? ' ' : letter;
  return text;
}

TEST(MapText, SaysWhyTheErrorIsNotKnown) {
  const Factor n{"n", {1, 2, 3, 4, 5}};
  const Factor m{"m", {1, 2}};
  EXPECT_NE(text_of(map_of({n}, {{{1}, 1}, {{2}, 4}, {{4}, 16}})).find("no more points than it needs"),
            std::string::npos);
  EXPECT_NE(text_of(map_of({n}, {{{1}, 0}, {{2}, 4}, {{3}, 8}, {{4}, 16}})).find("a measured response is 0"),
            std::string::npos);
  // Only two points have the second m: the surface goes through both.
  const MapResult needed =
      map_of({n, m}, {{{1, 1}, 1.1}, {{2, 1}, 3.8}, {{3, 1}, 9.2}, {{4, 1}, 15.9}, {{1, 2}, 2.0}, {{5, 2}, 27.0}});
  EXPECT_EQ(needed.surface->degrees_of_freedom, 1);
  EXPECT_NE(text_of(needed).find("the surface needs one of the points"), std::string::npos);
}

TEST(MapPage, HasCellsOfAnyNumberOfValues) {
  Factor many{"many", {}};
  for (int value = 1; value <= 600; ++value) many.levels.push_back(value);
  const MapResult result = map_of(
      {{"few", {1, 2}}, many}, {{{1, 1}, 1}, {{1, 300}, 2}, {{1, 600}, 4}, {{2, 1}, 2}, {{2, 300}, 3}, {{2, 600}, 5}});
  ASSERT_TRUE(result.surface);
  const std::string page = map_html(result);
  EXPECT_NE(page.find("<rect"), std::string::npos);
  EXPECT_EQ(page.find("width=\"-"), std::string::npos);
  EXPECT_NE(page.find(">1</text>"), std::string::npos);
  EXPECT_EQ(page.find(">2</text>\n  <text class=\"soft middle\""), std::string::npos);  // no room beside 1
}

}  // namespace
