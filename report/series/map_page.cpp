#include "report/series/map_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/series/figures.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using namespace series_figure;

constexpr std::size_t most_fields = 12;  // on a page; the table below has all points

std::string curve_picture(const MapResult& result) {
  const std::vector<double>& levels = result.factors.front().levels;
  Extent extent;
  for (const double level : levels) extent.add(result.surface->at({level}));
  for (const MeasuredPoint& measured : result.points) {
    for (const double response : measured.responses) extent.add(response);
  }
  const auto draw = [&](const Frame& frame) {
    const svg::Scale y = extent.upwards(frame);
    const svg::Scale x{0.5, static_cast<double>(levels.size()) + 0.5, frame.left, frame.right()};
    std::string content = axes(frame, y, [&](double value) { return response_words(result.is_time, value); }) +
                          title_of_axis(frame, result.factors.front().name);
    RoomOnAxis room(frame);
    double last_place = 0.0;
    double last_value = 0.0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double place = x(static_cast<double>(i + 1));
      const double predicted = result.surface->at({levels[i]});
      if (i > 0) content += svg::line(last_place, y(last_value), place, y(predicted), "undisturbed-line");
      last_place = place;
      last_value = predicted;
      if (room.takes(place)) content += value_on_axis(frame, place, value_text(levels[i]));
      if (const auto interval = result.surface->interval_at({levels[i]}, result.confidence)) {
        content += whisker(y, place, *interval);
      }
      if (const MeasuredPoint* const measured = measured_at(result, {levels[i]})) {
        for (const double response : measured->responses) content += svg::circle(place, y(response), 4.0, "disturbed");
      }
    }
    return drawing(frame, std::move(content));
  };
  return figure("The surface over one factor", draw,
                fmt::format("<b>The response over {}.</b> Line: predicted, with {} intervals as far as they "
                            "are within the figure. Circle: a run.",
                            svg::escaped(result.factors.front().name), confidence_words(result.confidence)));
}

// What the shade of a point stands for. A surface of the logarithm is shaded by it, too: most of its points would be
// equally pale otherwise.
double depth_at(const Surface& surface, const Point& point) {
  return surface.logarithmic ? std::log(surface.at(point)) : surface.at(point);
}

// A field of the last two factors; `others` are the levels of those before. `range`: of the depths of all points.
std::string field_picture(const MapResult& result, const Point& others, const Interval& range) {
  constexpr double height = 34.0;  // of a cell
  constexpr double levels_of_shade = 6.0;
  constexpr double letter = 7.0;  // width, about
  const Factor& down = result.factors[others.size()];
  const Factor& across = result.factors[others.size() + 1];
  const auto draw = [&](const Frame& frame) {
    const double cell = (frame.right() - frame.left) / static_cast<double>(across.levels.size());
    const double gap = std::min(2.0, 0.25 * cell);
    std::string content;
    for (std::size_t row = 0; row < down.levels.size(); ++row) {
      const double y = frame.top + height * static_cast<double>(row);
      content += svg::text(frame.left - 8, y + 0.5 * height + 4, "soft end", value_text(down.levels[row]));
      for (std::size_t column = 0; column < across.levels.size(); ++column) {
        Point point = others;
        point.push_back(down.levels[row]);
        point.push_back(across.levels[column]);
        const double depth = depth_at(*result.surface, point);
        const double share = range.high > range.low ? (depth - range.low) / (range.high - range.low) : 0.0;
        const int shade = 1 + static_cast<int>(std::min(levels_of_shade - 1.0, levels_of_shade * share));
        const double x = frame.left + cell * static_cast<double>(column);
        content += svg::rectangle(x, y, cell - gap, height - 2.0, fmt::format("disturbed level{}", shade));
        if (measured_at(result, point) != nullptr) {
          content += svg::circle(x + std::min(10.0, 0.5 * cell), y + 10.0, 4.0, "point");
        }
        const std::string words = response_words(result.is_time, result.surface->at(point));
        if (letter * static_cast<double>(words.size()) > cell) continue;  // the table below has it
        content += svg::text(x + 0.5 * cell, y + 0.5 * height + 4, "middle", words);
      }
    }
    const double end = frame.top + height * static_cast<double>(down.levels.size());
    RoomOnAxis room(frame);
    for (std::size_t column = 0; column < across.levels.size(); ++column) {
      const double place = frame.left + cell * (static_cast<double>(column) + 0.5);
      if (room.takes(place)) content += svg::text(place, end + 16, "soft middle", value_text(across.levels[column]));
    }
    content += svg::text(0.5 * (frame.left + frame.right()), end + 36, "soft middle", across.name);
    content += svg::rotated(24.0, 0.5 * (frame.top + end), "soft", down.name);
    return Drawing{std::move(content), end + 46.0};
  };
  std::string where;
  for (std::size_t i = 0; i < others.size(); ++i) {
    where += fmt::format("{}{} = {}", i > 0 ? ", " : "", svg::escaped(result.factors[i].name), value_text(others[i]));
  }
  return figure("The surface over two factors", draw,
                fmt::format("<b>{}{}.</b> Darker is more. Dot: measured.",
                            where.empty() ? "The predicted response" : "The predicted response for ", where));
}

std::string fields(const MapResult& result) {
  Interval range{HUGE_VAL, -HUGE_VAL};
  for (const Point& point : grid_of(result.factors)) {
    const double depth = depth_at(*result.surface, point);
    range = {std::min(range.low, depth), std::max(range.high, depth)};
  }
  const std::span<const Factor> others(result.factors.data(), result.factors.size() - 2);
  const std::vector<Point> combinations = grid_of(others);
  std::string figures;
  for (std::size_t i = 0; i < std::min(combinations.size(), most_fields); ++i) {
    figures += field_picture(result, combinations[i], range);
  }
  if (combinations.size() > most_fields) {
    figures += fmt::format("<p>The first {} of {} combinations are drawn; the table below has all.</p>\n", most_fields,
                           combinations.size());
  }
  return figures;
}

}  // namespace

std::string map_html(const MapResult& result) {
  Page page =
      page_of("A surface from few runs", result.command, answer_of(result), remarks_on(result), points_table(result));
  if (result.surface) page.figures = result.factors.size() == 1 ? curve_picture(result) : fields(result);
  return series_figure::page(page);
}

}  // namespace halcyon
