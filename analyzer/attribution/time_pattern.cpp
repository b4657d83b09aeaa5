#include "analyzer/attribution/time_pattern.hpp"

#include <fmt/format.h>

#include <unsupported/Eigen/FFT>

#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/groups/timeline.hpp"
#include "analyzer/statistics/in_parallel.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

// Mean excess of a segment in each judged group, in s; nothing for the other groups. The excess beyond it does not show
// the program's own order of work.
std::vector<std::optional<double>> mean_excess_of_groups(const Grouping& grouping, const LostTime& lost) {
  std::vector<std::optional<double>> means(grouping.groups.count);
  for (const JudgedGroup& group : lost.groups) {
    const std::span<const std::uint32_t> members = grouping.members(group.group);
    double sum = 0.0;
    for (const std::uint32_t segment : members) sum += static_cast<double>(lost.excess[segment]);
    means[group.group] = sum / static_cast<double>(members.size());
  }
  return means;
}

constexpr std::size_t bins_of_time = 4096;
constexpr std::size_t fewest_periods = 8;
constexpr std::size_t fewest_slow_periods = 3;  // where multiples of its rate stand out, too
// Bins, and segments, that a period must have at least.
constexpr std::size_t least_in_period = 4;
// How far a line of the spectrum must stand above its surroundings. For noise of any smooth spectrum a line does so
// with a probability of exp(-20): 2e-9, and there are some thousand lines.
constexpr double least_prominence = 20.0;

// Power at each frequency. Line n is n half cycles a run.
std::vector<double> spectrum(std::vector<double> bins, std::size_t lines) {
  bins.resize(2 * bins_of_time, 0.0);
  std::vector<std::complex<double>> frequencies;
  Eigen::FFT<double>().fwd(frequencies, bins);
  std::vector<double> power(lines);
  std::transform(frequencies.begin(), frequencies.begin() + static_cast<std::ptrdiff_t>(lines), power.begin(),
                 [](std::complex<double> one) { return std::norm(one); });
  return power;
}

// The mean power of the lines around one. It is taken from their median, so that lines that stand out do not count.
double surroundings(const std::vector<double>& power, std::size_t line) {
  constexpr std::size_t reach = 64;
  constexpr std::size_t own_width = 3;
  std::vector<double> around;
  for (std::size_t i = line > reach ? line - reach : 1; i < std::min(power.size(), line + reach); ++i) {
    if (i + own_width < line || i > line + own_width) around.push_back(power[i]);
  }
  return median_in_place(around) / std::numbers::ln2;
}

// The excess in equal parts of the run, and the weighted durations of its segments: disturbed ones are longer than
// most.
struct ExcessInTime {
  std::vector<double> bins = std::vector<double>(bins_of_time, 0.0);  // s
  double weights = 0.0;                                               // s, positive excess
  double weighted_durations = 0.0;                                    // s^2

  double sum_of_squares() const {
    double squares = 0.0;
    for (const double bin : bins) squares += bin * bin;
    return squares;
  }
};

ExcessInTime excess_in_time(const Profile& profile, const Grouping& grouping, const LostTime& lost) {
  const std::vector<std::optional<double>> means = mean_excess_of_groups(grouping, lost);
  const TimesOfSegments times = times_of(profile);
  const PartsByTime parts{.seconds = times.length(), .count = bins_of_time};
  const auto add = [&](ExcessInTime& excess, std::size_t first, std::size_t end) {
    const double from = times.from(0, first).length();
    along_time(times.from(first, end), [&](std::size_t number, double begin, double duration) {
      const std::size_t segment = first + number;
      const std::optional<double>& mean = means[grouping.groups.of[segment]];
      if (!mean) return;
      const double beyond = static_cast<double>(lost.excess[segment]) - *mean;
      excess.bins[parts.at(from + begin)] += beyond;
      excess.weights += std::max(beyond, 0.0);
      excess.weighted_durations += std::max(beyond, 0.0) * duration;
    });
  };
  ExcessInTime all;
  for (const ExcessInTime& excess : sums_of_pieces(profile.duration.size(), ExcessInTime(), add)) {
    for (std::size_t bin = 0; bin < bins_of_time; ++bin) all.bins[bin] += excess.bins[bin];
    all.weights += excess.weights;
    all.weighted_durations += excess.weighted_durations;
  }
  return all;
}

// What comes and goes for longer has lines at multiples of its rate, too. Its own rate may be too slow to be told by
// itself, but is a peak. Returns the line of that rate, or `line` where there is none. Nothing where the rate is too
// slow to be told at all.
std::optional<std::size_t> slower_line(const std::vector<double>& power, std::size_t line) {
  for (const std::size_t multiple : {2, 3, 5}) {
    const std::size_t slower = (line + multiple / 2) / multiple;
    if (slower >= 2 * fewest_periods || slower < 2) continue;
    const auto peak = std::max_element(power.begin() + static_cast<std::ptrdiff_t>(slower) - 1,
                                       power.begin() + static_cast<std::ptrdiff_t>(slower) + 2);
    const auto at = static_cast<std::size_t>(peak - power.begin());
    constexpr std::size_t beside = 3;
    constexpr double least_peak = 4.0;
    const double left = at > beside ? power[at - beside] : 0.0;
    if (*peak < power[line] || *peak < least_peak * std::max(left, power[at + beside])) continue;
    if (at < 2 * fewest_slow_periods) return std::nullopt;
    return at;
  }
  return line;
}

std::optional<double> period_of(const Profile& profile, const Grouping& grouping, const LostTime& lost) {
  const double run = times_of(profile).length();
  const std::size_t most_periods = std::min(bins_of_time, lost.excess.size()) / least_in_period;
  if (!(run > 0.0) || most_periods <= 2 * fewest_periods) return std::nullopt;
  const ExcessInTime excess = excess_in_time(profile, grouping, lost);
  const double squares = excess.sum_of_squares();
  const std::vector<double> power = spectrum(excess.bins, 2 * most_periods + 1);  // two lines a cycle
  // A line must also stand above what chance does: excess at random times has the sum of squares for its mean power.
  const auto stands_out = [&](std::size_t line) {
    return line >= 2 * fewest_periods && power[line] > least_prominence * squares &&
           power[line] > least_prominence * surroundings(power, line);
  };
  const auto strongest =
      static_cast<std::size_t>(std::max_element(power.begin() + 2 * fewest_periods, power.end()) - power.begin());
  if (!stands_out(strongest)) return std::nullopt;
  // Short bursts have lines at multiples of their rate, which may be stronger than that of the rate itself.
  std::size_t line = strongest;
  for (std::size_t multiple = 2; multiple <= 8; ++multiple) {
    for (std::size_t i = strongest / multiple; i <= strongest / multiple + 1; ++i) {
      if (stands_out(i) && i < line) line = i;
    }
  }
  const std::optional<std::size_t> own = slower_line(power, line);
  if (!own) return std::nullopt;
  const double period = 2.0 * run / static_cast<double>(*own);
  const bool is_of_segments =
      period * excess.weights < static_cast<double>(least_in_period) * excess.weighted_durations;
  return is_of_segments ? std::nullopt : std::optional(period);
}

std::string in_seconds(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.2g} ms", 1e3 * seconds) : fmt::format("{:.2g} s", seconds);
}

}  // namespace

std::string in_words(const TimePattern& pattern) {
  switch (pattern.kind) {
    case TimePattern::Kind::throughout: break;
    case TimePattern::Kind::periodic: return "every " + in_seconds(pattern.period_seconds);
    case TimePattern::Kind::bursts: return "in bursts";
    case TimePattern::Kind::stretch:
      return fmt::format("from {} to {} of the run", in_seconds(pattern.from_seconds), in_seconds(pattern.to_seconds));
    case TimePattern::Kind::start: return fmt::format("in the first {}", in_seconds(pattern.to_seconds));
  }
  return "throughout the run";
}

TimePattern time_pattern(const Profile& profile, const Grouping& grouping, const LostTime& lost) {
  using Kind = TimePattern::Kind;
  constexpr std::size_t few_windows = window_count / 4;
  // A level that holds most of it: the phases know its edges.
  const auto holds_most = [&](const LevelChange& change) {
    return change.added_seconds >= nearly_all * lost.breakdown.seconds && !change.may_be_work;
  };
  if (const auto change = std::ranges::find_if(lost.changes, holds_most); change != lost.changes.end()) {
    const double few = few_windows * lost.breakdown.window_seconds;
    const bool is_start = change->from_seconds < lost.breakdown.window_seconds && change->to_seconds <= few;
    return {.kind = is_start ? Kind::start : Kind::stretch,
            .from_seconds = change->from_seconds,
            .to_seconds = change->to_seconds};
  }
  constexpr std::size_t many_windows = 3 * window_count / 5;  // evenly spread, it needs four fifths
  std::array<double, window_count> windows = lost.breakdown.windows;
  for (double& window : windows) window = std::max(window, 0.0);
  const double needed = nearly_all * std::accumulate(windows.begin(), windows.end(), 0.0);
  const double length = lost.breakdown.window_seconds;
  const auto stretch_within = [&](std::size_t fewest, std::size_t most) -> std::optional<TimePattern> {
    for (std::size_t count = fewest; count <= most; ++count) {
      for (std::size_t first = 0; first + count <= window_count; ++first) {
        const auto begin = windows.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0) < needed) continue;
        return TimePattern{.kind = first == 0 && count <= few_windows ? Kind::start : Kind::stretch,
                           .from_seconds = static_cast<double>(first) * length,
                           .to_seconds = static_cast<double>(first + count) * length};
      }
    }
    return std::nullopt;
  };
  if (const std::optional<TimePattern> stretch = stretch_within(1, few_windows)) return *stretch;
  if (const std::optional<double> period = period_of(profile, grouping, lost)) {
    return {.kind = Kind::periodic, .period_seconds = *period};
  }
  std::array<double, window_count> highest_first = windows;
  std::sort(highest_first.begin(), highest_first.end(), std::greater<>());
  const auto highest = highest_first.begin();
  if (std::accumulate(highest, highest + few_windows, 0.0) >= needed) return {.kind = Kind::bursts};
  return stretch_within(few_windows + 1, many_windows).value_or(TimePattern{.kind = Kind::throughout});
}

}  // namespace halcyon
