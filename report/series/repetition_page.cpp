#include "report/series/repetition_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "report/html_document.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

constexpr double width = 1040.0;
constexpr double left = 90.0;
constexpr double right = width - 12.0;
constexpr double top = 16.0;
constexpr double bottom = 260.0;

// Values of an axis from below the least to above the largest of what is drawn.
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
  svg::Scale upwards() const {
    const double margin = high_ > low_ ? 0.06 * (high_ - low_) : 0.05 * std::abs(high_) + 1e-12;
    return {low_ - margin, high_ + margin, bottom, top};
  }

 private:
  double low_ = HUGE_VAL;
  double high_ = -HUGE_VAL;
};

template <class Label>
std::string axes(const svg::Scale& x, const svg::Scale& y, std::size_t last, std::string_view what, Label label) {
  std::string content = svg::line(left, bottom, right, bottom, "axis");
  for (const double value : svg::ticks(y.from_value, y.to_value, 4)) {
    content += svg::line(left, y(value), right, y(value), "grid") +
               svg::text(left - 8, y(value) + 4, "soft end", label(value));
  }
  const std::size_t step = std::max<std::size_t>(1, (last + 19) / 20);
  for (std::size_t i = step; i <= last; i += step) {
    content += svg::text(x(static_cast<double>(i)), bottom + 18, "soft middle", std::to_string(i));
  }
  return content + svg::text(0.5 * (left + right), bottom + 38, "soft middle", what);
}

std::string picture(std::string_view label, const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      width, bottom + 48, svg::escaped(label), content);
}

std::string band(const svg::Scale& y, const Interval& interval, std::string_view classes) {
  return svg::rectangle(left, y(interval.high), right - left, y(interval.low) - y(interval.high), classes);
}

std::string whisker(const svg::Scale& y, double place, const Interval& interval) {
  return svg::line(place, y(interval.low), place, y(interval.high), "whisker");
}

// A letter for who cannot tell the colours.
std::string_view letter_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::green: return "G";
    case Verdict::yellow: return "Y";
    case Verdict::red: return "R";
    case Verdict::unknown: break;
  }
  return "?";
}

std::string runs_picture(const Repetition& series, const MeanTime& mean) {
  Extent extent;
  for (const ListedRun& run : series.runs) {
    if (run.run.end == RunEnd::failed) continue;
    extent.add(run.run.measured_seconds);
    if (run.run.undisturbed) extent.add(run.run.undisturbed->interval_seconds);
  }
  if (extent.is_empty()) return "";
  const svg::Scale y = extent.upwards();
  const svg::Scale x{0.0, static_cast<double>(series.runs.size()) + 1.0, left, right};
  std::string content;
  if (mean.interval_seconds) content += band(y, *mean.interval_seconds, "band green");
  content += axes(x, y, series.runs.size(), "run", [](double value) { return seconds(value); });
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const RepeatedRun& run = series.runs[i].run;
    if (run.end == RunEnd::failed) continue;
    const double place = x(static_cast<double>(i + 1));
    const std::string_view whose = !series.other ? "" : series.runs[i].program == Program::a ? "A " : "B ";
    if (run.undisturbed) {
      content += whisker(y, place, run.undisturbed->interval_seconds) +
                 svg::diamond(place, y(run.undisturbed->seconds), 5.0, "undisturbed");
    }
    content += svg::circle(place, y(run.measured_seconds), 4.0, "disturbed") +
               svg::text(place, y(run.measured_seconds) - 9, "soft middle",
                         fmt::format("{}{}", whose, letter_of(run.verdict)));
  }
  return wide_figure(picture("Measured and undisturbed time of every run", content),
                     "<b>Every run.</b> Circle: as measured, with its verdict (G green, Y yellow, R red, ? unknown). "
                     "Diamond: undisturbed, with its 90 % interval. Band: the interval of the undisturbed mean (of A, "
                     "where there are two programs).");
}

std::string narrowing_picture(const Repetition& series) {
  struct Kind {
    const MeanTime SeriesSummary::*mean;
    double shift;
    std::string_view classes;
  };
  constexpr std::array<Kind, 3> kinds{{{&SeriesSummary::measured, -0.2, "disturbed"},
                                       {&SeriesSummary::quiet, 0.0, "point"},
                                       {&SeriesSummary::undisturbed, 0.2, "undisturbed"}}};
  const std::vector<RepeatedRun> runs = runs_of(series, Program::a);
  const SeriesRequest request{.precision = series.precision, .warm_up_runs = series.summary.warm_up_runs};
  std::vector<SeriesSummary> summaries;  // after 2, 3, ... runs
  Extent extent;
  for (std::size_t made = 2; made <= runs.size(); ++made) {
    summaries.push_back(summarise(std::span(runs).first(made), request));
    // The intervals of the first few runs would leave the later ones no room.
    for (const Kind& kind : kinds) {
      const MeanTime& mean = summaries.back().*kind.mean;
      if (mean.interval_seconds && (made > 3 || runs.size() <= 5)) extent.add(*mean.interval_seconds);
    }
  }
  if (extent.is_empty()) return "";
  const svg::Scale y = extent.upwards();
  const svg::Scale x{1.0, static_cast<double>(runs.size()) + 1.0, left, right};
  std::string content = axes(x, y, runs.size(), "runs made", [](double value) { return seconds(value); });
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    for (const Kind& kind : kinds) {
      const MeanTime& mean = summaries[i].*kind.mean;
      if (!mean.interval_seconds) continue;
      const double place = x(static_cast<double>(i + 2) + kind.shift);
      const Interval shown{std::max(mean.interval_seconds->low, y.from_value),
                           std::min(mean.interval_seconds->high, y.to_value)};
      if (shown.low >= shown.high) continue;
      content += whisker(y, place, shown);
      const bool is_inside = mean.mean_seconds > y.from_value && mean.mean_seconds < y.to_value;
      if (is_inside) content += svg::circle(place, y(mean.mean_seconds), 4.0, kind.classes);
    }
  }
  return wide_figure(picture("The means and their intervals, after each run", content),
                     fmt::format("<b>The means as they narrowed</b>, with {:.3g} % intervals. From left to right: all "
                                 "runs as measured, runs that were not red, undisturbed times.",
                                 100.0 * series.precision.confidence));
}

std::string pairs_picture(const Repetition& series) {
  const TimeRatio& ratio = series.other->versus.undisturbed;
  std::vector<double> ratios;  // of pairs; NaN where one run has no estimate
  Extent extent;
  extent.add(1.0);
  for (const RunPair& pair : pairs_of(series)) {
    const bool is_known = pair.a.undisturbed && pair.b.undisturbed;
    ratios.push_back(is_known ? pair.b.undisturbed->seconds / pair.a.undisturbed->seconds : NAN);
    extent.add(ratios.back());
  }
  if (ratio.interval) extent.add(*ratio.interval);
  const svg::Scale y = extent.upwards();
  const svg::Scale x{0.0, static_cast<double>(ratios.size()) + 1.0, left, right};
  std::string content;
  if (ratio.interval) content += band(y, *ratio.interval, "band green");
  content += axes(x, y, ratios.size(), "pair", [](double value) { return fmt::format("{:.3f}", value); });
  content += svg::line(left, y(1.0), right, y(1.0), "threshold");
  for (std::size_t pair = 0; pair < ratios.size(); ++pair) {
    if (std::isnan(ratios[pair])) continue;
    content += svg::diamond(x(static_cast<double>(pair + 1)), y(ratios[pair]), 5.0, "undisturbed");
  }
  return wide_figure(picture("The time of B over that of A, for each pair", content),
                     "<b>B over A</b>, undisturbed, for each pair of runs. Band: the interval of the ratio. Above the "
                     "dashed line B is slower.");
}

}  // namespace

std::string repetition_html(const Repetition& series) {
  std::string lines;  // each by itself: a line break is a control character, too
  std::istringstream text(repetition_text(series));
  for (std::string line; std::getline(text, line);) lines += svg::escaped(svg::as_utf8(line)) + "\n";
  const std::string command = svg::escaped(svg::as_utf8(series.command));
  std::string body = fmt::format(
      "<section><h2>{}</h2>\n<div class=\"scroll\"><pre class=\"terminal\">{}</pre></div></section>\n", command, lines);
  std::string pictures = runs_picture(series, series.summary.undisturbed);
  if (!series.work) pictures += narrowing_picture(series);
  if (series.other) pictures += pairs_picture(series);
  body += "<section>\n" + pictures + "</section>\n";
  return html_page({.title = command,
                    .subtitle = "How long a run takes",
                    .body = std::move(body),
                    .more_style = "pre.terminal { white-space: pre; min-width: max-content; }\n",
                    .script = {}});
}

}  // namespace halcyon
