#include "report/run_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/bands.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace halcyon {

using namespace svg;

namespace {

// `label` is the description for screen readers.
std::string picture(double width, double height, std::string_view label, const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n{3}</svg>\n", width,
                     height, escaped(label), content);
}

std::string path(std::string_view classes, const std::string& steps) {
  return steps.empty() ? "" : fmt::format("  <path class=\"{}\" d=\"{}\"/>\n", classes, steps);
}

struct TimeUnit {
  double seconds = 1.0;
  std::string_view name = "s";
};

TimeUnit unit_of_axis(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1.0 || size == 0.0) return {};
  if (size >= 1e-3) return {1e-3, "ms"};
  if (size >= 1e-6) return {1e-6, "µs"};
  return {1e-9, "ns"};
}

// A round time in few letters. All marks of a linear axis have the unit of its end.
std::string short_seconds(double value, TimeUnit unit) {
  const double number = value / unit.seconds;
  if (number == 0.0) return "0";
  return std::abs(number) >= 1e3 ? fmt::format("{:.0f} {}", number, unit.name)
                                 : fmt::format("{:.4g} {}", number, unit.name);
}
std::string short_seconds(double value) { return short_seconds(value, unit_of_axis(value)); }

/// An axis of durations, linear or logarithmic.
class DurationAxis {
 public:
  DurationAxis(double from, double to, bool logarithmic, double from_place, double to_place)
      : from_(from), to_(to), logarithmic_(logarithmic), scale_{place(from), place(to), from_place, to_place} {}

  double operator()(double value) const { return scale_(place(std::clamp(value, from_, to_))); }
  std::vector<double> marks() const { return logarithmic_ ? decades(from_, to_) : ticks(from_, to_, 3); }
  std::string label(double mark) const {
    return logarithmic_ ? short_seconds(mark) : short_seconds(mark, unit_of_axis(to_));
  }

 private:
  double place(double value) const { return logarithmic_ ? std::log10(value) : value; }

  double from_;
  double to_;
  bool logarithmic_;
  Scale scale_;
};

std::string short_count(double value) {
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
  return fmt::format("{:.0f}", value);
}

// Figures along the run have the same width, so that a moment is at the same place in all of them.
constexpr double along_width = 1040.0;
constexpr double along_left = 70.0;
constexpr double along_right = along_width - 12.0;

std::string time_axis(const Scale& x, double run_seconds, double bottom) {
  std::string content = line(x(0.0), bottom, along_right, bottom, "axis");
  for (const double value : ticks(0.0, run_seconds, 8)) {
    content += line(x(value), bottom, x(value), bottom + 4, "axis");
    content += text(x(value), bottom + 18, "soft middle", short_seconds(value, unit_of_axis(run_seconds)));
  }
  return content;
}

// 0 and counts of one digit followed by zeros, as many as there is room for on the axis; the largest come first.
template <class Height>
std::vector<double> round_counts(std::uint64_t most, Height height) {
  constexpr double least_distance = 26.0;
  std::vector<double> counts;
  double above = HUGE_VAL;
  for (double power = std::pow(10.0, std::floor(std::log10(static_cast<double>(most)))); power >= 1.0; power /= 10.0) {
    for (const double factor : {5.0, 2.0, 1.0}) {
      const double value = factor * power;
      if (value > static_cast<double>(most) || height(value) < least_distance) continue;
      if (above - height(value) < least_distance) continue;
      above = height(value);
      counts.push_back(value);
    }
  }
  counts.push_back(0.0);
  return counts;
}

struct Mark {
  double value = 0.0;
  std::string_view classes;
  std::string label;
};

// Bars are as high as the square root of the count, so that a few disturbed segments are visible beside thousands of
// undisturbed ones.
std::string histogram_figure(const Histogram& histogram, std::string_view label, const std::vector<Mark>& marks) {
  constexpr double width = 520.0;
  constexpr double left = 54.0;
  constexpr double right = width - 12.0;
  constexpr double top = 40.0;
  constexpr double bottom = 196.0;
  if (histogram.undisturbed.empty()) return "";
  std::uint64_t most = 1;
  for (std::size_t bin = 0; bin < histogram.undisturbed.size(); ++bin) {
    most = std::max(most, histogram.undisturbed[bin] + histogram.disturbed[bin]);
  }
  const Scale root{0.0, std::sqrt(static_cast<double>(most)), bottom, top};
  // `root` is linear in the square root; this takes a count.
  const auto y_of = [&root](double count) { return root(std::sqrt(count)); };
  double from = histogram.from_seconds;
  double to = histogram.to_seconds;
  for (const Mark& mark : marks) {
    if (mark.value > 0.0) from = std::min(from, mark.value);
    to = std::max(to, mark.value);
  }
  const DurationAxis x(from, to, histogram.logarithmic, left, right);

  std::string content;
  for (const double value : round_counts(most, [&](double value) { return bottom - y_of(value); })) {
    content += line(left, y_of(value), right, y_of(value), value == 0.0 ? "axis" : "grid");
    content += text(left - 6, y_of(value) + 4, "soft end", short_count(value));
  }
  for (const double value : x.marks()) {
    const bool is_at_edge = x(value) > right - 14.0;  // there the letters would be cut off
    content += line(x(value), bottom, x(value), bottom + 4, "axis");
    content +=
        text(is_at_edge ? width : x(value), bottom + 18, is_at_edge ? "soft end" : "soft middle", x.label(value));
  }
  std::string undisturbed;
  std::string disturbed;
  for (std::size_t bin = 0; bin < histogram.undisturbed.size(); ++bin) {
    const double begin = x(histogram.edge(bin));
    const double size = std::max(0.6, x(histogram.edge(bin + 1)) - begin - 0.4);
    const auto calm = static_cast<double>(histogram.undisturbed[bin]);
    const double all = calm + static_cast<double>(histogram.disturbed[bin]);
    const auto bar = [&](double low, double high) {
      return fmt::format("M{:.1f} {:.1f}h{:.1f}V{:.1f}h-{:.1f}z", begin, y_of(low), size, y_of(high), size);
    };
    if (calm > 0.0) undisturbed += bar(0.0, calm);
    if (all > calm) disturbed += bar(calm, all);
  }
  content += path("undisturbed", undisturbed) + path("disturbed", disturbed);
  double words = top - 8;
  for (const Mark& mark : marks) {
    content += line(x(mark.value), words + 4, x(mark.value), bottom, mark.classes);
    const bool is_right = x(mark.value) > 0.6 * width;
    content += text(x(mark.value) + (is_right ? -4 : 4), words, is_right ? "end" : "", mark.label);
    words -= 19.0;
  }
  return picture(width, bottom + 26.0, label, content);
}

}  // namespace

std::string light_figure(const MethodResult& result) {
  if (result.verdict == Verdict::unknown) return "";
  constexpr double width = 560.0;
  constexpr double left = 10.0;
  constexpr double right = width - 10.0;
  constexpr double top = 8.0;
  constexpr double bottom = 34.0;
  const double end =
      std::min(100.0, std::max(30.0, nice_end(std::max(result.interference_percent, result.interval_percent.high))));
  // Each class has its own scale, so that green and yellow stay readable for a run that lost nearly all of its time.
  const double third = (right - left) / 3.0;
  const auto x = [&](double percent) {
    double from = left;
    for (const Band& band : bands(end)) {
      if (percent <= band.to || band.verdict == Verdict::red) {
        return Scale{band.from, band.to, from, from + third}(std::min(percent, end));
      }
      from += third;
    }
    return right;
  };
  std::string content;
  for (const Band& band : bands(end)) {
    content += rectangle(x(band.from), top, third, bottom - top, fmt::format("band {}", name_of(band.verdict)));
    content += text(x(band.from) + 0.5 * third, bottom + 17, "soft middle", name_of(band.verdict));
  }
  for (const double value : {0.0, green_below_percent, red_above_percent, end}) {
    content += line(x(value), bottom, x(value), bottom + 4, "axis");
    content += text(x(value), bottom + 17,
                    value == 0.0   ? "soft"
                    : value == end ? "soft end"
                                   : "soft middle",
                    fmt::format("{:.3g} %", value));
  }
  const double middle = 0.5 * (top + bottom);
  const Interval& interval = result.interval_percent;
  content += line(x(interval.low), middle, x(interval.high), middle, "whisker");
  for (const double edge : {interval.low, interval.high}) {
    content += line(x(edge), middle - 6, x(edge), middle + 6, "whisker");
  }
  content += diamond(x(result.interference_percent), middle, 7.0, "point");
  return picture(width, bottom + 26.0, with_interval(result) + " on the scale of the traffic light", content);
}

std::vector<ShadedPart> shaded_parts(const Phases& phases) {
  std::vector<ShadedPart> parts;
  const auto add = [&parts](double from, double to, std::string_view kind) {
    if (to > from) parts.push_back({from, to, kind});
  };
  add(0.0, phases.stable_from_seconds, "startup");
  for (const LevelChange& change : phases.changes) {
    add(change.from_seconds, change.to_seconds, change.factor > 1.0 ? "slower" : "faster");
  }
  add(phases.stable_to_seconds, phases.end_seconds, "startup");
  return parts;
}

std::string timeline_figure(const Overview& overview, const std::vector<ShadedPart>& shaded) {
  constexpr double top = 14.0;
  constexpr double bottom = 214.0;
  if (overview.slots.empty()) return "";
  float shortest = HUGE_VALF;
  float longest = 0.0F;
  for (const TimeSlot& slot : overview.slots) {
    if (slot.shortest > 0.0F) shortest = std::min(shortest, slot.shortest);
    if (slot.longest_disturbed > 0.0F) shortest = std::min(shortest, slot.longest_disturbed);
    longest = std::max({longest, slot.longest, slot.longest_disturbed});
  }
  if (longest <= 0.0F) return "";
  const DurationAxis y(0.5 * static_cast<double>(shortest), 1.5 * static_cast<double>(longest), true, bottom, top);
  const Scale x{0.0, overview.seconds, along_left, along_right};

  std::string content;
  for (const ShadedPart& part : shaded) {
    content += rectangle(x(part.from_seconds), top, x(part.to_seconds) - x(part.from_seconds), bottom - top,
                         fmt::format("shaded {}", part.kind));
  }
  for (const double value : y.marks()) {
    content += line(along_left, y(value), along_right, y(value), "grid");
    content += text(along_left - 6, y(value) + 4, "soft end", y.label(value));
  }
  // Few strokes must be visible, many must stay apart.
  const bool are_few = overview.slots.size() < 200;
  const double least_length = are_few ? 5.0 : 1.6;
  std::string undisturbed;
  std::string disturbed;
  for (const TimeSlot& slot : overview.slots) {
    const double at = x(slot.begin_seconds);
    if (slot.longest > 0.0F) {
      const double high = y(static_cast<double>(slot.longest)) - 0.5 * least_length;
      undisturbed += fmt::format("M{:.1f} {:.1f}V{:.1f}", at, high,
                                 std::max(high + least_length, y(static_cast<double>(slot.shortest))));
    }
    if (slot.longest_disturbed > 0.0F) {
      disturbed += fmt::format("M{:.1f} {:.1f}l3 -5h-6z", at, y(static_cast<double>(slot.longest_disturbed)));
    }
  }
  content += path(are_few ? "undisturbed-line few" : "undisturbed-line", undisturbed) + path("disturbed", disturbed);

  content += time_axis(x, overview.seconds, bottom);
  return picture(along_width, bottom + 26.0, timeline_label, content);
}

std::string lost_figure(const Breakdown& breakdown) {
  constexpr double bottom = 90.0;
  const double most = *std::max_element(breakdown.windows.begin(), breakdown.windows.end());
  if (!(most > 0.0)) return "";
  const double run_seconds = breakdown.window_seconds * static_cast<double>(window_count);
  const Scale x{0.0, run_seconds, along_left, along_right};
  const Scale y{0.0, nice_end(most), bottom, 10.0};
  std::string content;
  for (const double value : ticks(0.0, y.to_value, 3)) {
    content += line(along_left, y(value), along_right, y(value), value == 0.0 ? "axis" : "grid");
    content += text(along_left - 6, y(value) + 4, "soft end", short_seconds(value, unit_of_axis(y.to_value)));
  }
  for (std::size_t window = 0; window < window_count; ++window) {
    const double from = x(breakdown.window_seconds * static_cast<double>(window));
    const double high = y(std::max(0.0, breakdown.windows[window]));
    content += rectangle(from + 1, high, x(breakdown.window_seconds) - along_left - 2, bottom - high, "disturbed");
  }
  content += time_axis(x, run_seconds, bottom);
  return picture(along_width, bottom + 26.0, "Time lost in each twentieth of the run", content);
}

std::string lateness_figure(const Overview& overview) {
  constexpr double top = 8.0;
  constexpr int levels = 6;
  constexpr double height_of_worst = 16.0;
  constexpr double gap = 10.0;
  const LatenessMap& map = overview.lateness;
  // The row of many ranks holds what its worst rank lost, so no rank alone has more.
  const double most = map.seconds.empty() ? 0.0 : *std::max_element(map.seconds.begin(), map.seconds.end());
  if (!(most > 0.0)) return "";
  const std::size_t worst = map.worst_ranks.size();
  const double first_row = worst > 0 ? top + height_of_worst * static_cast<double>(worst) + gap : top;
  const double height = std::clamp(320.0 / static_cast<double>(map.rows), 5.0, 26.0);
  const double bottom = first_row + height * static_cast<double>(map.rows);
  // Room for the longest label of a row: two numbers of ranks and a dash.
  constexpr double digit = 9.0;
  const std::size_t digits = std::to_string(map.rows * map.ranks_in_row).size();
  const double left = std::max(along_left, digit * static_cast<double>(2 * digits + 1) + 12.0);
  const double step = (along_right - left) / static_cast<double>(map.columns);
  const Scale x{0.0, overview.seconds, left, along_right};

  // The square root makes small delays visible beside large ones; one path per level keeps the page small.
  std::array<std::string, levels> steps;
  const auto draw = [&](const std::vector<double>& seconds, std::size_t rows, double from, double row_height) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < map.columns; ++column) {
        const double share = std::sqrt(std::max(0.0, seconds[row * map.columns + column]) / most);
        const int level = std::min(levels - 1, static_cast<int>(std::ceil(share * levels)) - 1);
        if (level < 0) continue;
        steps[static_cast<std::size_t>(level)] +=
            fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", left + step * static_cast<double>(column),
                        from + row_height * static_cast<double>(row), step, row_height, step);
      }
    }
  };
  draw(map.worst_seconds, worst, top, height_of_worst);
  draw(map.seconds, map.rows, first_row, height);
  std::string content = rectangle(left, first_row, along_right - left, bottom - first_row, "empty");
  for (std::size_t place = 0; place < worst; ++place) {
    const double from = top + height_of_worst * static_cast<double>(place);
    content += rectangle(left, from, along_right - left, height_of_worst, "empty");
    content +=
        text(left - 6, from + 0.5 * height_of_worst + 4, "soft end", fmt::format("rank {}", map.worst_ranks[place]));
  }
  for (int level = 0; level < levels; ++level) {
    content += path(fmt::format("level level{}", level + 1), steps[static_cast<std::size_t>(level)]);
  }
  const std::size_t every = (map.rows + 11) / 12;
  for (std::size_t row = 0; row < map.rows; row += every) {
    const std::uint64_t first = row * map.ranks_in_row;
    content += text(left - 6, first_row + height * (static_cast<double>(row) + 0.5) + 4, "soft end",
                    map.ranks_in_row == 1 ? fmt::format("rank {}", first)
                                          : fmt::format("{}–{}", first, first + map.ranks_in_row - 1));
  }
  content += time_axis(x, overview.seconds, bottom);
  double at = along_left;
  content += text(at, bottom + 44, "soft", "time lost:");
  at += 104.0;
  for (int level = 1; level <= levels; ++level) {
    const double edge = most * level * level / (levels * levels);
    content += rectangle(at, bottom + 33, 22, 13, "empty");  // the same background as the cells have
    content += rectangle(at, bottom + 33, 22, 13, fmt::format("level level{}", level));
    content += text(at + 28, bottom + 44, "soft", "≤ " + short_seconds(std::stod(fmt::format("{:.2g}", edge))));
    at += 118.0;
  }
  return picture(along_width, bottom + 54.0, "Which ranks held the others up, along the run", content);
}

std::string durations_figure(const Overview& overview) {
  return histogram_figure(overview.durations, "Histogram of segment durations, all groups together", {});
}

std::string group_figure(const GroupOverview& group) {
  return histogram_figure(group.histogram, "Histogram of segment durations of the group",
                          {{group.judged.threshold_seconds, "threshold", "threshold"},
                           {group.judged.baseline_seconds, "baseline", "baseline"}});
}

std::string side_by_side_figure(const std::vector<RunOnFigure>& runs) {
  constexpr double left = 58.0;
  constexpr double top = 16.0;
  constexpr double bottom = 250.0;
  // The same width for two runs as for ten, so that letters have the same size; wider if more runs need it.
  constexpr double usual_width = 900.0;
  const double slot = std::max(24.0, usual_width / static_cast<double>(runs.size()));
  const double right = left + slot * static_cast<double>(runs.size());
  double end = 20.0;  // so that all three classes are visible
  for (const RunOnFigure& run : runs) {
    end = std::max({end, run.result.interference_percent, std::min(run.result.interval_percent.high, 60.0)});
  }
  end = std::min(100.0, nice_end(end));
  const Scale y{0.0, end, bottom, top};
  std::string content;
  for (const Band& band : bands(end)) {
    content += rectangle(left, y(band.to), right - left, y(band.from) - y(band.to),
                         fmt::format("band {}", name_of(band.verdict)));
    content += text(right + 8, y(band.middle()) + 4, "soft", name_of(band.verdict));
  }
  for (const double value : ticks(0.0, end, 5)) {
    content += line(left, y(value), right, y(value), value == 0.0 ? "axis" : "grid");
    content += text(left - 6, y(value) + 4, "soft end", fmt::format("{:.0f} %", value));
  }
  const double bar = std::min(0.5 * slot, 64.0);
  double middle = left + 0.5 * slot;
  for (const RunOnFigure& run : runs) {
    const bool is_judged = run.result.verdict != Verdict::unknown;
    const double high = y(std::min(end, run.result.interference_percent));
    content += rectangle(middle - 0.5 * bar, high, bar, bottom - high, is_judged ? "estimated" : "unjudged");
    if (is_judged) {
      content += line(middle, y(std::min(end, run.result.interval_percent.low)), middle,
                      y(std::min(end, run.result.interval_percent.high)), "whisker");
    } else {
      content += text(middle, bottom - 8, "soft middle", "unknown");
    }
    content += text(middle, bottom + 18, "middle", run.label);
    content +=
        text(middle, bottom + 36, "soft middle", short_seconds(std::stod(fmt::format("{:.3g}", run.run_time_seconds))));
    middle += slot;
  }
  content += text(left - 6, bottom + 18, "soft end", "run");
  content += text(left - 6, bottom + 36, "soft end", "time");
  return picture(right + 62.0, bottom + 44.0, "Runs in order of their time, with the estimated interference of each",
                 content);
}

}  // namespace halcyon
