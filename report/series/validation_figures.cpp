#include "report/series/validation_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/estimate/estimators.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "libprofile/system/plural.hpp"
#include "report/bands.hpp"
#include "report/layout.hpp"
#include "report/svg.hpp"

namespace halcyon {

using namespace svg;

namespace {

// Colours that colour-blind readers can distinguish (M. Okabe and K. Ito, "Color Universal Design", 2008), on a white
// card that suits light and dark pages.
constexpr std::string_view style = R"(  <style>
    text{fill:#1b1f24} .soft{fill:#57606a} .small{font-size:11px} .head{font-weight:600;font-size:15px}
    .middle{text-anchor:middle} .end{text-anchor:end}
    .card{fill:#fff;stroke:#d0d7de} .axis{stroke:#57606a;fill:none} .grid{stroke:#d8dee4;fill:none}
    .low{fill:#009e73;fill-opacity:.10} .medium{fill:#f0e442;fill-opacity:.25} .high{fill:#d55e00;fill-opacity:.10}
    .measured{fill:#0072b2} .background{fill:#0072b2;fill-opacity:.35} .estimated{fill:#e69f00} .unjudged{fill:none;stroke:#e69f00;stroke-dasharray:3 2}
    .whisker{stroke:#1b1f24;fill:none} .displaced{fill:#fff;stroke:#1b1f24;stroke-width:1.2}
    .curve{stroke:#1b1f24;stroke-width:1.6;fill:none} .gap{stroke:#8c959f;stroke-width:2;fill:none}
    .truth0{fill:#0072b2} .truth1{fill:#56b4e9} .truth2{fill:#cc79a7} .truth3{fill:#009e73} .truth4{fill:#d55e00}
    .box{fill-opacity:.30;stroke-width:1.2} .median{stroke:#1b1f24;stroke-width:2.4} .dot{fill-opacity:.55}
  </style>
)";

std::string page(double width, double height, std::string_view title, std::string_view subtitle,
                 const std::string& content) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" font-family=\"system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif\" "
             "font-size=\"13\">\n  <title>{2}</title>\n",
             width, height, escaped(title)) +
         std::string(style) +
         fmt::format("  <rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"8\"/>\n",
                     width - 1, height - 1) +
         text(20, 28, "head", title) + text(20, 48, "soft small", subtitle) + content + "</svg>\n";
}

std::string subtitle_of(const ValidationSetting& setting, const Validation& validation, std::size_t most_columns) {
  return fmt::format("{}   ({}, {})", briefly(setting.command, most_columns), plural(validation.runs.size(), "run"),
                     plural(setting.ranks, "rank"));
}

std::vector<std::size_t> by_time(const Validation& validation) {
  std::vector<std::size_t> order(validation.runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&validation](std::size_t a, std::size_t b) {
    return validation.runs[a].run_time_seconds > validation.runs[b].run_time_seconds;
  });
  return order;
}

bool is_judged(const ValidatedRun& run) { return run.methods.front().verdict != Verdict::unknown; }

double largest_percent(const Validation& validation) {
  double largest = 20.0;  // so that all three classes are visible
  for (const ValidatedRun& run : validation.runs) {
    for (const std::optional<KnownTruth>& truth : run.truths) {
      if (truth) largest = std::max(largest, truth->percent);
    }
    largest = std::max(
        {largest, run.methods.front().interference_percent, std::min(run.methods.front().interval_percent.high, 60.0)});
  }
  return std::min(100.0, nice_end(largest));
}

std::string what_of(const ValidationSetting& setting, const PlannedRun& run) {
  if (run.kind == RunKind::injected) return fmt::format("{:.2g}", run.hits_per_segment);
  if (run.kind == RunKind::quiet) return std::string(name_of(run.kind));
  const std::string& disturber = setting.disturbers[static_cast<std::size_t>(run.disturber)];
  return disturber.substr(0, disturber.find(':'));  // there is no room for its schedule
}

std::string legend_of_runs(double x, double y, std::string_view method) {
  return circle(x, y - 4, 4.5, "measured") + text(x + 10, y, "", "measured") +
         diamond(x + 96, y - 4, 5.5, "estimated") +
         text(x + 106, y, "", fmt::format("estimated from the run alone ({})", method));
}

}  // namespace

std::string runs_figure(const ValidationSetting& setting, const Validation& validation) {
  constexpr double left = 64.0;
  constexpr double right = 76.0;
  constexpr double top = 96.0;
  constexpr double bottom = 380.0;
  const double slot = std::clamp(820.0 / static_cast<double>(validation.runs.size()), 32.0, 90.0);
  const double width = std::max(960.0, left + right + slot * static_cast<double>(validation.runs.size()));
  const double edge = width - right;
  const double end = largest_percent(validation);
  const Scale y{0.0, end, bottom, top};
  const auto shown = [end](double percent) { return std::clamp(percent, 0.0, end); };

  std::string content;
  for (const Band& band : bands(end)) {
    content += rectangle(left, y(band.to), edge - left, y(band.from) - y(band.to), class_of(band.middle()));
    content += text(edge + 8, y(band.middle()) + 4, "soft", class_of(band.middle()));
  }
  const double tick = end > 60.0 ? 20.0 : end > 25.0 ? 10.0 : 5.0;
  for (double value = 0.0; value <= end + 1e-9; value += tick) {
    content += line(left, y(value), edge, y(value), value == 0.0 ? "axis" : "grid");
    content += text(left - 8, y(value) + 4, "soft end", fmt::format("{:.0f}", value));
  }
  content += rotated(20, 0.5 * (top + bottom), "soft", "interference, % of the run time");

  const double bar = 0.34 * slot;
  double x = left;
  for (const std::size_t i : by_time(validation)) {
    const ValidatedRun& run = validation.runs[i];
    const MethodResult& result = run.methods.front();
    const double middle = x + 0.5 * slot;
    const double measured = shown(run.truth(Truth::measured)->percent);
    const std::optional<KnownTruth>& beside_background = run.truth(Truth::with_background);
    const double with_background = beside_background ? shown(beside_background->percent) : measured;
    const double displaced = shown(run.truth(Truth::without_displacement)->percent);
    const double estimated = shown(result.interference_percent);
    content += rectangle(middle - bar - 1, y(measured), bar, bottom - y(measured), "measured");
    content += rectangle(middle - bar - 1, y(with_background), bar, y(measured) - y(with_background), "background");
    content += diamond(middle - 0.5 * bar - 1, y(displaced), 4.0, "displaced");
    content +=
        rectangle(middle + 1, y(estimated), bar, bottom - y(estimated), is_judged(run) ? "estimated" : "unjudged");
    if (is_judged(run)) {
      const double at = middle + 0.5 * bar + 1;
      content += line(at, y(shown(result.interval_percent.low)), at, y(shown(result.interval_percent.high)), "whisker");
    }
    content += text(middle, bottom + 18, "soft small middle", fmt::format("{:.3g}", run.run_time_seconds));
    content += text(middle, bottom + 36, "soft small middle", what_of(setting, run.plan));
    x += slot;
  }
  content += text(left - 8, bottom + 18, "soft small end", "time s");
  content += text(left - 8, bottom + 36, "soft small end", "hits");
  content += text(0.5 * (left + edge), bottom + 60, "soft middle",
                  "runs in order of their time; hits: injected delays per segment, over all ranks");
  content += rectangle(left, 66, 12, 12, "measured") + text(left + 18, 77, "", "measured");
  double at = left + 104;
  if (validation.background_percent) {
    content += rectangle(at, 66, 12, 12, "background") + text(at + 18, 77, "", "with background");
    at += 150;
  }
  content += diamond(at + 4, 72, 4.0, "displaced") + text(at + 18, 77, "", "without displacement");
  at += 196;
  content +=
      rectangle(at, 66, 12, 12, "estimated") +
      text(at + 18, 77, "", fmt::format("estimated from the run alone ({}), 90 % interval", methods.front().name));
  return page(width, bottom + 78, "Measured and estimated interference",
              subtitle_of(setting, validation, static_cast<std::size_t>(width / 9.0)), content);
}

std::string probability_figure(const ValidationSetting& setting, const Validation& validation) {
  constexpr double width = 960.0;
  constexpr double top = 96.0;
  constexpr double bottom = 380.0;
  const double end = largest_percent(validation);
  const Scale x{0.0, end, 60.0, 450.0};
  const Scale y{0.0, 1.0, bottom, top};
  const double second = 520.0;
  const double edge = 930.0;

  std::string content = legend_of_runs(66, 77, methods.front().name);
  for (const Band& band : bands(end)) {
    content += rectangle(x(band.from), top, x(band.to) - x(band.from), bottom - top, class_of(band.middle()));
    content += rotated(x(band.middle()) + 4, top + 40, "soft small", class_of(band.middle()));
  }
  for (double value = 0.0; value <= 1.01; value += 0.25) {
    for (const auto& [from, to] : {std::pair(60.0, 450.0), std::pair(second, edge)}) {
      content += line(from, y(value), to, y(value), value == 0.0 ? "axis" : "grid");
      content += text(from - 8, y(value) + 4, "soft end", fmt::format("{:.2g}", value));
    }
  }
  for (double value = 0.0; value <= end + 1e-9; value += end > 60.0 ? 20.0 : end > 25.0 ? 10.0 : 5.0) {
    content += text(x(value), bottom + 18, "soft middle", fmt::format("{:.0f}", value));
  }
  content += text(255, bottom + 40, "soft middle", "interference, % of the run time");
  content += rotated(20, 0.5 * (top + bottom), "soft", "probability: highly disturbed");
  std::string curve;
  constexpr int steps = 120;
  for (int step = 0; step <= steps; ++step) {
    const double percent = end * step / steps;
    curve += fmt::format("{}{:.1f} {:.1f}", step == 0 ? "M" : "L", x(percent), y(probability_high(percent)));
  }
  content += fmt::format("  <path class=\"curve\" d=\"{}\"/>\n", curve);

  const auto shown = [end](double percent) { return std::clamp(percent, 0.0, end); };
  const std::vector<std::size_t> order = by_time(validation);
  const Scale place{-0.5, static_cast<double>(order.size()) - 0.5, second, edge};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ValidatedRun& run = validation.runs[order[i]];
    const double measured = run.truth(Truth::measured)->percent;
    const double estimated = run.methods.front().interference_percent;
    const double at = place(static_cast<double>(i));
    content += circle(x(shown(measured)), y(probability_high(shown(measured))), 4.5, "measured dot");
    if (is_judged(run)) {
      content += diamond(x(shown(estimated)), y(probability_high(shown(estimated))), 5.0, "estimated dot");
      content += line(at, y(probability_high(measured)), at, y(probability_high(estimated)), "gap");
    }
    content += circle(at, y(probability_high(measured)), 4.5, "measured");
    if (is_judged(run)) content += diamond(at, y(probability_high(estimated)), 5.0, "estimated");
  }
  content += text(0.5 * (second + edge), bottom + 40, "soft middle",
                  "runs in order of their time; grey: inaccuracy of the estimate");
  return page(width, bottom + 58, "Probability that a run is highly disturbed", subtitle_of(setting, validation, 105),
              content);
}

namespace {

// Shows quartiles, median and the whole range, and every run as a dot.
std::string box_plot(const std::vector<double>& values, double at, double width, const Scale& y,
                     std::string_view colour) {
  if (values.empty()) return text(at, y(y.to_value) + 16, "soft small middle", "none");
  const auto place = [&](double p) { return y(std::clamp(quantile(values, p), y.from_value, y.to_value)); };
  std::string content =
      line(at, place(0.0), at, place(0.25), "whisker") + line(at, place(0.75), at, place(1.0), "whisker");
  for (const double p : {0.0, 1.0})
    content += line(at - 0.25 * width, place(p), at + 0.25 * width, place(p), "whisker");
  content += rectangle(at - 0.5 * width, place(0.75), width, std::max(0.5, place(0.25) - place(0.75)),
                       fmt::format("{} box whisker", colour));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double aside = 0.3 * width * (2.0 * std::fmod(0.618 * static_cast<double>(i + 1), 1.0) - 1.0);
    content +=
        circle(at + aside, y(std::clamp(values[i], y.from_value, y.to_value)), 2.6, fmt::format("{} dot", colour));
  }
  return content + line(at - 0.5 * width, place(0.5), at + 0.5 * width, place(0.5), "median");
}

struct Panel {
  std::string_view title;
  double left = 0.0;
  double right = 0.0;
  Scale y;
  double tick = 0.0;
  std::vector<double> MethodSummary::*values;
};

std::string panel_of_boxes(const Panel& panel, const Validation& validation) {
  const Scale& y = panel.y;
  std::string content = text(panel.left, y.to_place - 14, "", panel.title);
  for (double value = y.from_value; value <= y.to_value + 1e-9; value += panel.tick) {
    content += line(panel.left, y(value), panel.right, y(value), value == y.from_value ? "axis" : "grid");
    content += text(panel.left - 8, y(value) + 4, "soft end", fmt::format("{:.3g}", value));
  }
  const double group = (panel.right - panel.left) / static_cast<double>(methods.size());
  const auto truths = static_cast<double>(validation.known_truths().size());
  const double slot = std::min(56.0, 0.86 * group / truths);
  for (std::size_t method = 0; method < methods.size(); ++method) {
    const double middle = panel.left + (static_cast<double>(method) + 0.5) * group;
    content += text(middle, y.from_place + 20, "middle", methods[method].name);
    double at = middle - 0.5 * slot * (truths - 1.0);
    for (const MethodSummary& summary : validation.summaries) {
      if (summary.method != methods[method].name) continue;
      content += box_plot(summary.*panel.values, at, 0.66 * slot, y, fmt::format("truth{}", index_of(summary.truth)));
      at += slot;
    }
  }
  return content;
}

}  // namespace

std::string accuracy_figure(const ValidationSetting& setting, const Validation& validation) {
  constexpr double width = 960.0;
  constexpr double top = 120.0;
  constexpr double bottom = 400.0;
  double worst = 4.0;
  for (const MethodSummary& summary : validation.summaries) {
    for (const double points : summary.difference_points) worst = std::max(worst, points);
  }
  const double end = nice_end(worst);
  std::string content;
  double x = 40.0;
  for (const Truth truth : validation.known_truths()) {
    content += rectangle(x, 66, 12, 12, fmt::format("truth{}", index_of(truth)));
    content += text(x + 18, 77, "", info_of(truth).label);
    x += 185.0;
  }
  content += panel_of_boxes({"Accuracy, 1 − |P(measured) − P(estimated)|",
                             60.0,
                             460.0,
                             {0.0, 1.0, bottom, top},
                             0.25,
                             &MethodSummary::accuracy},
                            validation);
  content += panel_of_boxes({"Difference, percentage points",
                             530.0,
                             930.0,
                             {0.0, end, bottom, top},
                             end / 4.0,
                             &MethodSummary::difference_points},
                            validation);
  content += text(20, bottom + 46, "soft small",
                  "Box: the middle half of the judged runs; line: median; whiskers: all judged runs.");
  return page(width, bottom + 62, "Accuracy of the estimates, by method", subtitle_of(setting, validation, 105),
              content);
}

}  // namespace halcyon
