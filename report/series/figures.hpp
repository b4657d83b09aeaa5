// The common parts of figures of a series of runs: their size, their axes, and intervals.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>

#include "analyzer/statistics/interval.hpp"
#include "report/svg.hpp"

namespace halcyon::series_figure {

inline constexpr double width = 1040.0;
inline constexpr double left = 90.0;
inline constexpr double right = width - 12.0;
inline constexpr double top = 16.0;
inline constexpr double bottom = 260.0;

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
  svg::Scale upwards() const { return scale(bottom, top); }
  svg::Scale to_the_right() const { return scale(left, right); }

 private:
  svg::Scale scale(double from, double to) const {
    const double margin = high_ > low_ ? 0.06 * (high_ - low_) : 0.05 * std::abs(high_) + 1e-12;
    return {low_ - margin, high_ + margin, from, to};
  }

  double low_ = HUGE_VAL;
  double high_ = -HUGE_VAL;
};

/// The horizontal axis without its values, and the vertical axis with lines at round values.
std::string axes(const svg::Scale& y, std::string_view horizontal, const std::function<std::string(double)>& label);
/// Numbers of runs from 1 to `last` along the horizontal axis.
std::string counts(const svg::Scale& x, std::size_t last);
/// Which values on the horizontal axis have room beside those before them, from the left.
class RoomOnAxis {
 public:
  bool takes(double place) {
    constexpr double room = 46.0;
    if (place - last_ < room) return false;
    last_ = place;
    return true;
  }

 private:
  double last_ = -HUGE_VAL;
};
/// A value on the horizontal axis.
std::string value_on_axis(double place, std::string_view words);

/// A band across the whole figure.
std::string band(const svg::Scale& y, const Interval& interval, std::string_view classes);
/// The part of an interval that lies within the figure; nothing if it lies outside.
std::string whisker(const svg::Scale& y, double place, const Interval& interval);

/// The content as a picture; screen readers read `label`.
std::string picture(std::string_view label, const std::string& content, double height = bottom + 48.0);

/// The page of a series: the text of the result as a terminal shows it, and figures below.
std::string page(const std::string& command, std::string_view subtitle, const std::string& text,
                 const std::string& figures);

}  // namespace halcyon::series_figure
