#include "report/series/repetition_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/series/figures.hpp"
#include "report/series/repetition_result.hpp"
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
std::string ratio_label(double value) { return fmt::format("{:.3f}", value); }

bool are_several(const Repetition& series) { return !series.others.empty(); }

std::string title_of_lane(const Frame& lane, Program program, std::string_view words) {
  return svg::text(lane.left, lane.top - 6, "letter own " + class_of_program(program), words);
}

// A run of a program, in its lane. `unused`: it does not count.
std::string run_marks(const svg::Scale& y, double place, const RepeatedRun& run, Program program, bool is_unused,
                      bool has_room) {
  const std::string own = is_unused ? "unused" : "own " + class_of_program(program);
  std::string content;
  if (run.undisturbed) {
    content += whisker(y, place, run.undisturbed->interval_seconds,
                       is_unused ? "whisker" : "line " + class_of_program(program)) +
               svg::diamond(place, y(run.undisturbed->seconds), 5.0, own);
  }
  content +=
      svg::circle(place, y(run.measured_seconds), 4.0, is_unused ? "unused" : "hollow " + class_of_program(program));
  if (has_room) {
    content += svg::text(place, y(run.measured_seconds) - 9, "soft middle", letter_of(run.verdict));
  }
  return content;
}

std::string runs_picture(const Repetition& series) {
  Extent extent;
  for (const ListedRun& run : series.runs) {
    if (run.run.end == RunEnd::failed) continue;
    extent.add(run.run.measured_seconds);
    if (run.run.undisturbed) extent.add(run.run.undisturbed->interval_seconds);
  }
  if (extent.is_empty()) return "";
  const std::size_t programs = programs_of(series);
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  std::size_t rounds = 0;
  for (Program program = first_program; program < programs; ++program) {
    rounds = std::max(rounds, runs_of(series, program).size());
  }
  const auto draw = [&](const Frame& frame) {
    constexpr double room_of_letter = 14.0;
    std::string content;
    std::vector<svg::Scale> scales;
    for (Program program = first_program; program < programs; ++program) {
      const Frame lane = frame.lane(program, programs);
      const svg::Scale& y = scales.emplace_back(extent.upwards(lane));
      const std::optional<Interval>& mean = summary_of(series, program).undisturbed.interval_seconds;
      if (mean && !series.work) content += band(lane, y, *mean, "band own " + class_of_program(program));
      content += axes(lane, y, seconds_label);
      if (are_several(series)) content += title_of_lane(lane, program, halcyon::letter_of(program));
    }
    const Counts x(frame, rounds);
    std::vector<std::size_t> listed(programs, 0);
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const ListedRun& run = series.runs[i];
      const double place = x(static_cast<double>(++listed[run.program]));
      if (run.run.end == RunEnd::failed) {
        content += svg::text(place, frame.lane(run.program, programs).bottom - 6, "soft middle", "×");
        continue;
      }
      content += run_marks(scales[run.program], place, run.run, run.program, is_unused(unused[i]),
                           x.distance() >= room_of_letter);
    }
    const Frame last = frame.lane(programs - 1, programs);
    return drawing(last, content + Counts(last, rounds).labels(are_several(series) ? "round" : "run"));
  };
  return figure(
      "Measured and undisturbed time of every run", draw,
      "<b>Every run.</b> Circle: as measured; above it its verdict, where there is room (G green, Y yellow, R "
      "red, ? unknown). Diamond: undisturbed, with its 90 % interval. ×: failed." +
          std::string(unused_words) + std::string(series.work ? "" : " Band: the interval of the undisturbed mean."));
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
  const std::vector<std::optional<Unused>> unused = unused_of(series);
  const auto draw = [&](const Frame& frame) {
    const svg::Scale y = extent.upwards(frame);
    const double margin = 0.03 * (to - from);
    const svg::Scale x{from - margin, to + margin, frame.left, frame.right()};
    std::string content = axes(frame, y, seconds_label) + title_of_axis(frame, series.work->name);
    for (const double end : {from, to}) content += value_on_axis(frame, x(end), fmt::format("{:.0f}", end));
    content += svg::line(x(from), y(on_line(from)), x(to), y(on_line(to)), "threshold");
    for (std::size_t i = 0; i < series.runs.size(); ++i) {
      const ListedRun& run = series.runs[i];
      if (!run.run.undisturbed) continue;
      content += svg::diamond(x(run.work), y(run.run.undisturbed->seconds), 5.0, unused[i] ? "unused" : "own p0");
    }
    return drawing(frame, std::move(content));
  };
  return figure("Undisturbed time over the amount of work", draw,
                "<b>Time over work.</b> Diamond: undisturbed time of a run. Line: the fixed cost and the cost of a "
                "unit that fit best." +
                    std::string(unused_words));
}

// A mean after each number of runs, as one of several that stand side by side.
struct NarrowingMean {
  std::vector<MeanTime> after;  // 2, 3, ... runs
  std::string own;              // class of its colour
};

// The means that a series shows together: three of one program, or the undisturbed one of each of several.
std::vector<NarrowingMean> narrowing_means(const Repetition& series) {
  std::vector<NarrowingMean> means;
  const auto add = [&](Program program, const MeanTime SeriesSummary::*which, std::string own) {
    const std::vector<RepeatedRun> runs = runs_of(series, program);
    const SeriesRequest request{.precision = series.precision,
                                .warm_up_runs = summary_of(series, program).warm_up_runs};
    NarrowingMean& mean = means.emplace_back(NarrowingMean{{}, std::move(own)});
    for (std::size_t made = 2; made <= runs.size(); ++made) {
      mean.after.push_back(summarise(std::span(runs).first(made), request).*which);
    }
  };
  if (!are_several(series)) {
    add(first_program, &SeriesSummary::measured, "p1");
    add(first_program, &SeriesSummary::quiet, "p4");
    add(first_program, &SeriesSummary::undisturbed, "p0");
  } else {
    for (Program program = first_program; program < programs_of(series); ++program) {
      add(program, &SeriesSummary::undisturbed, class_of_program(program));
    }
  }
  return means;
}

std::string narrowing_picture(const Repetition& series) {
  const std::vector<NarrowingMean> means = narrowing_means(series);
  Extent extent;
  std::size_t runs = 0;
  for (const NarrowingMean& mean : means) {
    runs = std::max(runs, mean.after.size() + 1);
    for (std::size_t i = 0; i < mean.after.size(); ++i) {
      // The intervals of the first few runs would leave the later ones no room.
      const bool is_early = i + 2 <= 3 && mean.after.size() + 1 > 5;
      if (mean.after[i].interval_seconds && !is_early) extent.add(*mean.after[i].interval_seconds);
    }
  }
  if (extent.is_empty()) return "";
  const auto draw = [&](const Frame& frame) {
    constexpr double room = 7.0;   // of an interval
    constexpr double share = 0.6;  // of the distance of neighbours
    const svg::Scale y = extent.upwards(frame);
    const Counts x(frame, runs);
    const auto kinds = static_cast<double>(means.size());
    const auto step = static_cast<std::size_t>(std::max(1.0, std::ceil(room * kinds / (share * x.distance()))));
    std::string content = axes(frame, y, seconds_label) + x.labels(are_several(series) ? "rounds made" : "runs made");
    for (std::size_t kind = 0; kind < means.size(); ++kind) {
      const double shift = share * static_cast<double>(step) * ((static_cast<double>(kind) + 0.5) / kinds - 0.5);
      const std::vector<MeanTime>& after = means[kind].after;
      for (std::size_t back = 0; back < after.size(); back += step) {  // the last one is always there
        const std::size_t i = after.size() - 1 - back;
        const MeanTime& mean = after[i];
        if (!mean.interval_seconds) continue;
        const double place = x(static_cast<double>(i + 2) + shift);
        content += whisker(y, place, *mean.interval_seconds, "line " + means[kind].own);
        const bool is_inside = mean.mean_seconds > y.from_value && mean.mean_seconds < y.to_value;
        if (is_inside) content += svg::circle(place, y(mean.mean_seconds), 4.0, "own " + means[kind].own);
      }
    }
    return drawing(frame, std::move(content));
  };
  const std::string confidence = confidence_words(series.precision.confidence);
  std::string caption = fmt::format(
      "<b>The means after each run</b>, with {} intervals. From left to right: all runs as measured, green "
      "and yellow runs as measured, undisturbed times.",
      confidence);
  if (are_several(series)) {
    caption = fmt::format("<b>The undisturbed means after each round</b>, with {} intervals. From left to right: ",
                          confidence);
    for (Program program = first_program; program < programs_of(series); ++program) {
      caption += chip(program, halcyon::letter_of(program));
    }
  }
  return figure("The means and their intervals, after each run", draw, caption);
}

// All programs on one axis, the fastest on top.
std::string ranking_picture(const Repetition& series) {
  const std::vector<Place> ranking = ranking_of(series);
  const double within = 0.01 * series.precision.within_percent;
  Extent extent;
  extent.add({1.0 - within, 1.0 + within});
  for (const OtherProgram& other : series.others) {
    extent.add(other.versus.answer().pairs > 0 ? other.versus.answer().ratio : NAN);
    if (other.versus.answer().interval) extent.add(*other.versus.answer().interval);
  }
  const auto draw = [&](Frame frame) {
    constexpr double height = 34.0;
    frame.bottom = frame.top + height * static_cast<double>(ranking.size());
    const svg::Scale x = extent.to_the_right(frame);
    std::string content = svg::rectangle(x(1.0 - within), frame.top, x(1.0 + within) - x(1.0 - within),
                                         frame.bottom - frame.top, "band green") +
                          svg::line(frame.left, frame.bottom, frame.right(), frame.bottom, "axis") +
                          svg::line(x(1.0), frame.top, x(1.0), frame.bottom, "threshold");
    RoomOnAxis room(frame);
    for (const double value : svg::ticks(x.from_value, x.to_value, 4)) {
      if (room.takes(x(value))) content += value_on_axis(frame, x(value), ratio_label(value));
    }
    for (std::size_t row = 0; row < ranking.size(); ++row) {
      const Program program = ranking[row].program;
      const std::string own = class_of_program(program);
      const double y = frame.top + height * (static_cast<double>(row) + 0.5);
      content += svg::text(frame.left - 12, y + 5, "letter end own " + own, halcyon::letter_of(program));
      const bool is_first = program == first_program;
      const TimeRatio ratio = is_first ? TimeRatio{.pairs = 1} : series.others[program - 1].versus.answer();
      if (ratio.interval) {
        content += svg::line(x(ratio.interval->low), y, x(ratio.interval->high), y, "line thick " + own);
      }
      if (ratio.pairs > 0) content += svg::diamond(x(ratio.ratio), y, 6.0, "own " + own);
    }
    return drawing(frame, content + title_of_axis(frame, "times as long as A"));
  };
  const std::string confidence = confidence_words(series.precision.confidence);
  return figure("How long each program takes, in times of A, the fastest on top", draw,
                fmt::format("<b>Times as long as A</b>, the fastest on top. Line: the {} interval{}. Band: the same "
                            "within {:g} %.",
                            confidence, series.others.size() > 1 ? ", such that all hold together" : "",
                            series.precision.within_percent));
}

std::string pairs_picture(const Repetition& series) {
  const auto seconds_of = [](const Versus& versus, const RepeatedRun& run) {
    return versus.is_by_undisturbed() ? run.undisturbed->seconds : run.measured_seconds;
  };
  struct Ratios {
    std::vector<RunPair> pairs;
    std::vector<double> values;  // NaN where one run has no estimate
  };
  std::vector<Ratios> all;
  Extent extent;
  extent.add(1.0);
  std::size_t rounds = 0;
  bool is_any_measured = false;
  for (Program other = 1; other < programs_of(series); ++other) {
    const Versus& versus = series.others[other - 1].versus;
    Ratios& ratios = all.emplace_back(Ratios{pairs_of(series, other), {}});
    for (const RunPair& pair : ratios.pairs) {
      const bool is_known = pair.a.undisturbed && pair.b.undisturbed;
      ratios.values.push_back(is_known ? seconds_of(versus, pair.b) / seconds_of(versus, pair.a) : NAN);
      extent.add(ratios.values.back());
    }
    if (versus.answer().interval) extent.add(*versus.answer().interval);
    rounds = std::max(rounds, ratios.pairs.size());
    is_any_measured = is_any_measured || !versus.is_by_undisturbed();
  }
  const auto draw = [&](const Frame& frame) {
    const Counts x(frame, rounds);
    std::string content;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Program other = i + 1;
      const Versus& versus = series.others[i].versus;
      const Frame lane = frame.lane(i, all.size());
      const svg::Scale y = extent.upwards(lane);
      const std::string own = class_of_program(other);
      if (versus.answer().interval) content += band(lane, y, *versus.answer().interval, "band own " + own);
      content += axes(lane, y, ratio_label) + svg::line(lane.left, y(1.0), lane.right(), y(1.0), "threshold");
      if (all.size() > 1) content += title_of_lane(lane, other, halcyon::letter_of(other) + " over A");
      for (std::size_t pair = 0; pair < all[i].values.size(); ++pair) {
        if (std::isnan(all[i].values[pair])) continue;
        const double place = x(static_cast<double>(pair + 1));
        const bool counts = pair_counts(all[i].pairs[pair]);
        content += versus.is_by_undisturbed()
                       ? svg::diamond(place, y(all[i].values[pair]), 5.0, counts ? "own " + own : "unused")
                       : svg::circle(place, y(all[i].values[pair]), 4.0, counts ? "hollow " + own : "unused");
      }
    }
    const Frame last = frame.lane(all.size() - 1, all.size());
    return drawing(last, content + Counts(last, rounds).labels(all.size() > 1 ? "round" : "pair"));
  };
  return figure("The time of each program over that of A, pair by pair", draw,
                fmt::format("<b>Pair by pair.</b> Diamond: undisturbed{}. Band: the interval of the ratio. Above the "
                            "dashed line, the program is slower than A.{}",
                            is_any_measured ? "; circle: as measured" : "", unused_words));
}

}  // namespace

std::string repetition_html(const Repetition& series) {
  RepetitionResult result = result_of(series);
  Page page{.subtitle = are_several(series) ? "Which program is faster" : "How long a run takes",
            .programs = std::move(result.programs),
            .answer = std::move(result.answer),
            .facts = std::move(result.facts)};
  if (result.ranking) page.first.push_back(std::move(*result.ranking));
  if (are_several(series)) page.figures += ranking_picture(series) + pairs_picture(series);
  page.figures += runs_picture(series);
  page.figures += series.work ? work_picture(series) : narrowing_picture(series);
  page.tables = std::move(result.means);
  page.tables.push_back(std::move(result.runs));
  return series_figure::page(page);
}

}  // namespace halcyon
