#include "report/series/figures.hpp"

#include <fmt/format.h>

#include <sstream>

#include "report/html_document.hpp"
#include "report/layout.hpp"

namespace halcyon::series_figure {

std::string axes(const svg::Scale& y, std::string_view horizontal, const std::function<std::string(double)>& label) {
  std::string content = svg::line(left, bottom, right, bottom, "axis");
  for (const double value : svg::ticks(y.from_value, y.to_value, 4)) {
    content += svg::line(left, y(value), right, y(value), "grid") +
               svg::text(left - 8, y(value) + 4, "soft end", label(value));
  }
  return content + svg::text(0.5 * (left + right), bottom + 38, "soft middle", horizontal);
}

std::string value_on_axis(double place, std::string_view words) {
  return svg::text(place, bottom + 18, "soft middle", words);
}

std::string counts(const svg::Scale& x, std::size_t last) {
  constexpr std::size_t most_labels = 20;
  const std::size_t step = std::max<std::size_t>(1, (last + most_labels - 1) / most_labels);
  std::string content;
  for (std::size_t i = step; i <= last; i += step) {
    content += value_on_axis(x(static_cast<double>(i)), std::to_string(i));
  }
  return content;
}

std::string band(const svg::Scale& y, const Interval& interval, std::string_view classes) {
  return svg::rectangle(left, y(interval.high), right - left, y(interval.low) - y(interval.high), classes);
}

std::string whisker(const svg::Scale& y, double place, const Interval& interval) {
  const Interval shown{std::max(interval.low, y.from_value), std::min(interval.high, y.to_value)};
  if (!(shown.low < shown.high)) return "";
  return svg::line(place, y(shown.low), place, y(shown.high), "whisker");
}

std::string picture(std::string_view label, const std::string& content, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      width, height, svg::escaped(label), content);
}

std::string page(const std::string& command, std::string_view subtitle, const std::string& text,
                 const std::string& figures) {
  std::string lines;  // each by itself: their ends are ours
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines += svg::escaped(line) + "\n";
  const std::string title = svg::escaped(command_words(command));
  std::string body = fmt::format(
      "<section><h2>{}</h2>\n<div class=\"scroll\"><pre class=\"terminal\">{}</pre></div></section>\n", title, lines);
  body += "<section>\n" + figures + "</section>\n";
  return html_page({.title = title,
                    .subtitle = subtitle,
                    .body = std::move(body),
                    .more_style = "pre.terminal { white-space: pre; min-width: max-content; }\n",
                    .script = {}});
}

}  // namespace halcyon::series_figure
