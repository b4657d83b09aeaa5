#include "report/series/repetition_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/html_document.hpp"
#include "report/series/figures.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using namespace series_figure;

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

// A run without an estimate counts as measured.
bool is_unused(const std::optional<Unused>& unused) { return unused && *unused != Unused::no_estimate; }

constexpr std::string_view unused_words = " Grey and hollow: does not count.";

std::string seconds_label(double value) { return seconds(value); }

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
  if (mean.interval_seconds && !series.work) content += band(y, *mean.interval_seconds, "band green");
  content += axes(y, "run", seconds_label) + counts(x, series.runs.size());
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const RepeatedRun& run = series.runs[i].run;
    const double place = x(static_cast<double>(i + 1));
    if (run.end == RunEnd::failed) {
      content += svg::text(place, bottom - 6, "soft middle", "×");
      continue;
    }
    const std::string_view whose = !series.other ? "" : series.runs[i].program == Program::a ? "A " : "B ";
    if (run.undisturbed) {
      content += whisker(y, place, run.undisturbed->interval_seconds) +
                 svg::diamond(place, y(run.undisturbed->seconds), 5.0, is_unused(unused[i]) ? "unused" : "undisturbed");
    }
    content += svg::circle(place, y(run.measured_seconds), 4.0, is_unused(unused[i]) ? "unused" : "disturbed") +
               svg::text(place, y(run.measured_seconds) - 9, "soft middle",
                         fmt::format("{}{}", whose, letter_of(run.verdict)));
  }
  return wide_figure(picture("Measured and undisturbed time of every run", content),
                     "<b>Every run.</b> Circle: as measured, with its verdict (G green, Y yellow, R red, ? unknown). "
                     "Diamond: undisturbed, with its 90 % interval. ×: failed." +
                         std::string(unused_words) +
                         std::string(series.work ? ""
                                                 : " Band: the interval of the undisturbed mean (of A, where there are "
                                                   "two programs)."));
}

std::string work_picture(const Repetition& series) {
  const std::optional<WorkRate>& rate = series.work->rate;
  if (!rate) return "";
  const auto from = static_cast<double>(series.work->range.from);
  const auto to = static_cast<double>(series.work->range.to);
  const auto on_line = [&rate](double work) { return rate->fixed.seconds + work * rate->unit.seconds; };
  Extent extent;
  extent.add(on_line(from));
  extent.add(on_line(to));
  for (const ListedRun& run : series.runs) {
    if (run.run.undisturbed) extent.add(run.run.undisturbed->seconds);
  }
  const svg::Scale y = extent.upwards();
  const double margin = 0.03 * (to - from);
  const svg::Scale x{from - margin, to + margin, left, right};
  std::string content = axes(y, series.work->name, seconds_label);
  for (const double end : {from, to}) content += value_on_axis(x(end), fmt::format("{:.0f}", end));
  content += svg::line(x(from), y(on_line(from)), x(to), y(on_line(to)), "threshold");
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  for (std::size_t i = 0; i < series.runs.size(); ++i) {
    const ListedRun& run = series.runs[i];
    if (!run.run.undisturbed) continue;
    content += svg::diamond(x(run.work), y(run.run.undisturbed->seconds), 5.0, unused[i] ? "unused" : "undisturbed");
  }
  return wide_figure(
      picture("Undisturbed time over the amount of work", content),
      "<b>Time over work.</b> Diamond: undisturbed time of a run. Line: the fixed cost and the cost of a "
      "unit that fit best." +
          std::string(unused_words));
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
  std::string content = axes(y, "runs made", seconds_label) + counts(x, runs.size());
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    for (const Kind& kind : kinds) {
      const MeanTime& mean = summaries[i].*kind.mean;
      if (!mean.interval_seconds) continue;
      const double place = x(static_cast<double>(i + 2) + kind.shift);
      content += whisker(y, place, *mean.interval_seconds);
      const bool is_inside = mean.mean_seconds > y.from_value && mean.mean_seconds < y.to_value;
      if (is_inside) content += svg::circle(place, y(mean.mean_seconds), 4.0, kind.classes);
    }
  }
  return wide_figure(picture("The means and their intervals, after each run", content),
                     fmt::format("<b>The means after each run</b>, with {} intervals. From left to right: all "
                                 "runs as measured, green and yellow runs as measured, undisturbed times.",
                                 confidence_words(series.precision.confidence)));
}

std::string pairs_picture(const Repetition& series) {
  const Versus& versus = series.other->versus;
  const TimeRatio& ratio = versus.answer();
  const auto seconds_of = [&versus](const RepeatedRun& run) {
    return versus.is_by_undisturbed() ? run.undisturbed->seconds : run.measured_seconds;
  };
  const std::vector<RunPair> pairs = pairs_of(series);
  std::vector<double> ratios;  // of pairs; NaN where one run has no estimate
  Extent extent;
  extent.add(1.0);
  for (const RunPair& pair : pairs) {
    const bool is_known = pair.a.undisturbed && pair.b.undisturbed;
    ratios.push_back(is_known ? seconds_of(pair.b) / seconds_of(pair.a) : NAN);
    extent.add(ratios.back());
  }
  if (ratio.interval) extent.add(*ratio.interval);
  const svg::Scale y = extent.upwards();
  const svg::Scale x{0.0, static_cast<double>(ratios.size()) + 1.0, left, right};
  std::string content;
  if (ratio.interval) content += band(y, *ratio.interval, "band green");
  content += axes(y, "pair", [](double value) { return fmt::format("{:.3f}", value); }) + counts(x, ratios.size());
  content += svg::line(left, y(1.0), right, y(1.0), "threshold");
  for (std::size_t pair = 0; pair < ratios.size(); ++pair) {
    if (std::isnan(ratios[pair])) continue;
    content += svg::diamond(x(static_cast<double>(pair + 1)), y(ratios[pair]), 5.0,
                            !pair_counts(pairs[pair])    ? "unused"
                            : versus.is_by_undisturbed() ? "undisturbed"
                                                         : "measured");
  }
  return wide_figure(picture("The time of B over that of A, for each pair", content),
                     fmt::format("<b>B over A</b>, {}, for each pair of runs. Band: the interval of the ratio. Above "
                                 "the dashed line B is slower.{}",
                                 versus.is_by_undisturbed() ? "undisturbed" : "as measured", unused_words));
}

}  // namespace

std::string repetition_html(const Repetition& series) {
  std::string pictures = runs_picture(series, series.summary.undisturbed);
  pictures += series.work ? work_picture(series) : narrowing_picture(series);
  if (series.other) pictures += pairs_picture(series);
  return page(series.command, "How long a run takes", repetition_text(series), pictures);
}

}  // namespace halcyon
