#include "report/series/search_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/series/figures.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

using namespace series_figure;

// Loads such as 1, 2, 4, ... 64 are even on a logarithmic axis.
class LoadAxis {
 public:
  LoadAxis(const Frame& frame, const Interval& range) {
    constexpr double least_ratio = 10.0;  // of the ends of a range whose axis is logarithmic
    is_logarithmic_ = range.low > 0.0 && range.high >= least_ratio * range.low;
    Extent extent;
    extent.add(place_of(range.low));
    extent.add(place_of(range.high));
    scale_ = extent.to_the_right(frame);
  }
  double operator()(double load) const { return scale_(place_of(load)); }

 private:
  double place_of(double load) const { return is_logarithmic_ ? std::log(load) : load; }

  bool is_logarithmic_ = false;
  svg::Scale scale_;
};

// The loads that were tried, and the ends of the range, as far as there is room for their value on the axis, from the
// left.
std::string loads_on_axis(const Frame& frame, const LoadAxis& x, const SearchResult& result) {
  std::vector<double> loads{result.request.range.low, result.request.range.high};
  for (const TriedLoad& tried : result.state.tried) loads.push_back(tried.load);
  std::sort(loads.begin(), loads.end());
  std::string content;
  RoomOnAxis room(frame);
  for (const double load : loads) {
    if (room.takes(x(load))) content += value_on_axis(frame, x(load), value_text(load));
  }
  return content;
}

bool is_answer(const SearchResult& result, double load) {
  return result.state.answer && result.state.answer->load == load;
}

std::string curve_picture(const SearchResult& result) {
  const ResponseLimit& limit = result.request.limit;
  const bool is_time = limit.response == Response::time;
  Extent extent;
  extent.add(limit.value);
  for (const Trial& trial : result.trials) extent.add(trial.response.value_or(NAN));
  const auto draw = [&](const Frame& frame) {
    const svg::Scale y = extent.upwards(frame);
    const LoadAxis x(frame, result.request.range);
    std::string content = axes(frame, y, [&](double value) { return response_words(is_time, value); }) +
                          title_of_axis(frame, result.name);
    content += loads_on_axis(frame, x, result);
    content += svg::line(frame.left, y(limit.value), frame.right(), y(limit.value), "threshold") +
               svg::text(frame.right(), y(limit.value) - 6, "soft end", text_of(limit));
    for (const Trial& trial : result.trials) {
      if (trial.response) {
        content += svg::circle(x(trial.load), y(*trial.response), 3.0, "disturbed");
      } else {
        content += svg::text(x(trial.load), frame.bottom - 6, "middle", "failed");
      }
    }
    for (const TriedLoad& tried : result.state.tried) {
      if (tried.failed > 0 || tried.trials == 0) continue;
      const double place = x(tried.load);
      content += whisker(y, place, tried.interval);  // of two runs it may be much higher than the figure
      content += svg::diamond(place, y(tried.mean), is_answer(result, tried.load) ? 9.0 : 5.0, "undisturbed");
    }
    return drawing(frame, std::move(content));
  };
  return figure("The response over what was varied, and the limit", draw,
                fmt::format("<b>How {} depends on {}.</b> Circle: a run. Diamond: the mean, with its {} interval as "
                            "far as it is within the figure; the large one is the answer. Dashed: the limit.",
                            svg::escaped(name_of(limit.response)), svg::escaped(result.name),
                            confidence_words(result.request.confidence)));
}

std::string order_picture(const SearchResult& result) {
  Extent extent;
  for (const Trial& trial : result.trials) extent.add(trial.load);
  const auto draw = [&](const Frame& frame) {
    const svg::Scale y = extent.upwards(frame);
    const Counts x(frame, result.trials.size());
    std::string content = axes(frame, y, [](double value) { return value_text(value); }) + x.labels("run");
    if (result.state.answer) {
      content +=
          svg::line(frame.left, y(result.state.answer->load), frame.right(), y(result.state.answer->load), "threshold");
    }
    for (std::size_t i = 0; i < result.trials.size(); ++i) {
      const Trial& trial = result.trials[i];
      const bool is_met = trial.response && result.request.limit.is_met_by(*trial.response);
      const double place = x(static_cast<double>(i + 1));
      content += is_met ? svg::diamond(place, y(trial.load), 5.0, "undisturbed")
                        : svg::circle(place, y(trial.load), 4.0, "disturbed");
    }
    return drawing(frame, std::move(content));
  };
  return figure("What was tried, run by run", draw,
                fmt::format("<b>{} tried, run by run.</b> Diamond: the run met the limit. Circle: it did not. "
                            "Dashed: the answer.",
                            svg::escaped(result.name)));
}

}  // namespace

std::string search_html(const SearchResult& result) {
  Page page =
      page_of("What still meets the limit", result.command, answer_of(result), remarks_on(result), loads_table(result));
  if (!result.trials.empty()) page.figures = curve_picture(result) + order_picture(result);
  return series_figure::page(page);
}

}  // namespace halcyon
