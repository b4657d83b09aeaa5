// Pieces of SVG: scales, shapes and words, each as a line of markup. What they look like is the page's style sheet.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon::svg {

/// A scale from values to places on the page, in units of the picture.
struct Scale {
  double from_value = 0.0;
  double to_value = 1.0;
  double from_place = 0.0;
  double to_place = 1.0;

  double operator()(double value) const {
    return from_place + (to_place - from_place) * (value - from_value) / (to_value - from_value);
  }
};

/// Bytes that are no UTF-8 are replaced, as in JSON: XML and HTML have no place for them.
std::string as_utf8(const std::string& bytes);
/// For the content of an element or a quoted attribute.
std::string escaped(std::string_view text);

std::string text(double x, double y, std::string_view classes, std::string_view content);
/// Read upwards, centred.
std::string rotated(double x, double y, std::string_view classes, std::string_view content);
std::string rectangle(double x, double y, double width, double height, std::string_view classes);
std::string line(double x1, double y1, double x2, double y2, std::string_view classes);
std::string circle(double x, double y, double radius, std::string_view classes);
std::string diamond(double x, double y, double radius, std::string_view classes);

/// A round number that leaves some room above the largest value.
double nice_end(double largest);
/// Between some and twice as many round values that divide the range evenly, inside it.
std::vector<double> ticks(double from, double to, std::size_t some);
/// Powers of ten in the range, with 2 and 5 times them where there are few.
std::vector<double> decades(double from, double to);

}  // namespace halcyon::svg
