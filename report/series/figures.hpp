// The common parts of pages of a series of runs: the answer, its tables, and figures with their axes and intervals.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/statistics/interval.hpp"
#include "report/series/result.hpp"
#include "report/svg.hpp"

namespace halcyon::series_figure {

/// What pages with these figures and tables need besides the style of every page.
extern const std::string_view style;

/// Where a figure is drawn, in its units. Each figure is drawn twice: for screens and paper as wide as a page, and for
/// narrow screens. So its text is as large as that around it on both.
struct Frame {
  double width = 0.0;
  double left = 0.0;  // of the values; before it are the labels of the vertical axis
  double top = 16.0;
  double bottom = 260.0;

  double right() const { return width - 12.0; }
  /// One of several figures below each other with the same horizontal axis, from 0 on.
  Frame lane(std::size_t number, std::size_t lanes) const;
};
inline constexpr Frame wide{.width = 1040.0, .left = 90.0};
inline constexpr Frame narrow{.width = 390.0, .left = 76.0};

/// Values of an axis: from the smallest to the largest value drawn.
class Extent {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void add(const Interval& interval) {
    add(interval.low);
    add(interval.high);
  }
  bool is_empty() const { return low_ > high_; }
  /// With a margin on both sides.
  svg::Scale upwards(const Frame& frame) const { return scale(frame.bottom, frame.top); }
  svg::Scale to_the_right(const Frame& frame) const { return scale(frame.left, frame.right()); }

 private:
  svg::Scale scale(double from, double to) const {
    const double margin = high_ > low_ ? 0.06 * (high_ - low_) : 0.05 * std::abs(high_) + 1e-12;
    return {low_ - margin, high_ + margin, from, to};
  }

  double low_ = HUGE_VAL;
  double high_ = -HUGE_VAL;
};

/// Numbers 1, 2, ... along the horizontal axis, as far as there is room.
class Counts {
 public:
  Counts(const Frame& frame, std::size_t last);
  double operator()(double number) const { return scale_(number); }
  /// The distance of neighbours.
  double distance() const { return scale_(1.0) - scale_(0.0); }
  /// The labels below the axis, and what is counted.
  std::string labels(std::string_view horizontal) const;

 private:
  Frame frame_;
  std::size_t last_;
  svg::Scale scale_;
};

/// The line of the horizontal axis, and the vertical axis with lines at round values.
std::string axes(const Frame& frame, const svg::Scale& y, const std::function<std::string(double)>& label);
/// What the horizontal axis shows.
std::string title_of_axis(const Frame& frame, std::string_view horizontal);
/// A value on the horizontal axis.
std::string value_on_axis(const Frame& frame, double place, std::string_view words);
/// Which values on the horizontal axis have room beside those before them, from the left, and within the figure.
class RoomOnAxis {
 public:
  static constexpr double room = 46.0;
  explicit RoomOnAxis(const Frame& frame, double of_each = room);
  bool takes(double place);

 private:
  double of_each_;
  double end_;
  double last_ = -HUGE_VAL;
};

/// A band across the whole figure.
std::string band(const Frame& frame, const svg::Scale& y, const Interval& interval, std::string_view classes);
/// The part of an interval that lies within the figure; nothing if it lies outside.
std::string whisker(const svg::Scale& y, double place, const Interval& interval, std::string_view classes = "whisker");

/// The class that colours what belongs to a program: the letter is beside it, since few colours differ enough.
std::string class_of_program(std::size_t program);
/// A letter in the colour of its program.
std::string chip(std::size_t program, std::string_view letter);

struct Drawing {
  std::string content;
  double height = 0.0;
};
/// A figure on its frame; below `frame.bottom` is room for the horizontal axis.
inline Drawing drawing(const Frame& frame, std::string content) { return {std::move(content), frame.bottom + 48.0}; }
/// The figure as it is drawn for each kind of screen. Screen readers read `label`; `caption` is markup.
std::string figure(std::string_view label, const std::function<Drawing(const Frame&)>& draw,
                   const std::string& caption);

/// A page begins with its answer and whose it is; details come last.
struct Page {
  std::string_view subtitle;
  std::vector<SeriesFact> programs;  // their letters, if there are several, and their commands
  SeriesAnswer answer;
  std::vector<SeriesFact> remarks{};  // below the answer
  std::vector<SeriesTable> first{};
  std::string figures{};
  std::vector<SeriesFact> facts{};
  std::vector<SeriesTable> tables{};
};
std::string page(const Page& page);
/// Of one program, with a table of what was measured.
Page page_of(std::string_view subtitle, const std::string& command, SeriesAnswer answer,
             std::vector<std::string> remarks, SeriesTable table);

}  // namespace halcyon::series_figure
