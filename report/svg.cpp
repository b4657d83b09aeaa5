#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libprofile/system/legible.hpp"

namespace halcyon::svg {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : legible(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string text(double x, double y, std::string_view classes, std::string_view content) {
  return fmt::format("  <text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", classes, x, y, escaped(content));
}

std::string rotated(double x, double y, std::string_view classes, std::string_view content) {
  return fmt::format("  <text class=\"{} middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n",
                     classes, x, y, escaped(content));
}

std::string rectangle(double x, double y, double width, double height, std::string_view classes) {
  return fmt::format("  <rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", classes,
                     x, y, width, height);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view classes) {
  return fmt::format("  <path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", classes, x1, y1, x2, y2);
}

std::string circle(double x, double y, double radius, std::string_view classes) {
  return fmt::format("  <circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n", classes, x, y, radius);
}

std::string diamond(double x, double y, double radius, std::string_view classes) {
  return fmt::format(
      "  <path class=\"{}\" d=\"M{:.1f} {:.1f}l{r:.1f} {r:.1f}l-{r:.1f} {r:.1f}l-{r:.1f} -{r:.1f}z\"/>\n", classes, x,
      y - radius, fmt::arg("r", radius));
}

double nice_end(double largest) {
  const double power = std::pow(10.0, std::floor(std::log10(std::max(largest, 1e-9))));
  for (const double factor : {1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (factor * power >= 1.02 * largest) return factor * power;
  }
  return 10.0 * power;
}

std::vector<double> ticks(double from, double to, std::size_t some) {
  const double rough = (to - from) / static_cast<double>(some);
  if (!(rough > 0.0)) return {from};
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power <= rough) step = factor * power;
  }
  std::vector<double> values;
  // + 0.0 makes 0 of -0, which would be printed as "-0".
  for (double n = std::ceil(from / step - 1e-9) + 0.0; n * step <= to * (1.0 + 1e-12); n += 1.0)
    values.push_back(n * step);
  return values;
}

std::vector<double> decades(double from, double to) {
  std::vector<double> values;
  const bool few = std::log10(to / from) < 2.0;
  for (double power = std::pow(10.0, std::floor(std::log10(from))); power <= to; power *= 10.0) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * power;
      if ((factor == 1.0 || few) && value >= from * (1.0 - 1e-9) && value <= to * (1.0 + 1e-9)) values.push_back(value);
    }
  }
  return values;
}

}  // namespace halcyon::svg
