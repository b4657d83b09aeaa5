// Pieces of SVG: scales, shapes and words, each a line of markup. A style sheet gives them colours and fonts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::svg {

/// A scale from values to positions on the page, in units of the picture.
struct Scale {
  double from_value = 0.0;
  double to_value = 1.0;
  double from_place = 0.0;
  double to_place = 1.0;

  double operator()(double value) const {
    return from_place + (to_place - from_place) * (value - from_value) / (to_value - from_value);
  }
};

/// Text from anywhere, legible, as the content of an element or of a quoted attribute.
std::string escaped(std::string_view text);

std::string text(double x, double y, std::string_view classes, std::string_view content);
/// Text that reads upwards, centred.
std::string rotated(double x, double y, std::string_view classes, std::string_view content);
std::string rectangle(double x, double y, double width, double height, std::string_view classes);
std::string line(double x1, double y1, double x2, double y2, std::string_view classes);
std::string circle(double x, double y, double radius, std::string_view classes);
std::string diamond(double x, double y, double radius, std::string_view classes);

/// A round number slightly above the largest value.
double nice_end(double largest);
/// Round values at equal distances inside the range; between `some` and about twice as many.
std::vector<double> ticks(double from, double to, std::size_t some);
/// Powers of ten in the range; if they are few, also 2 and 5 times each.
std::vector<double> decades(double from, double to);

}  // namespace halcyon::svg
