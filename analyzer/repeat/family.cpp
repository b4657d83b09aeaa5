#include "analyzer/repeat/family.hpp"

#include <algorithm>
#include <numeric>

namespace halcyon {
namespace {

template <class Value, class Get>
std::optional<Value> largest_if_all_known(std::span<const KnownSoFar> all, const Get& get) {
  std::optional<Value> largest;
  for (const KnownSoFar& known : all) {
    const std::optional<Value> value = get(known);
    if (!value) return std::nullopt;
    largest = std::max(largest.value_or(*value), *value);
  }
  return largest;
}

}  // namespace

std::vector<std::size_t> turns_of_round(std::size_t programs, std::size_t round) {
  // 0, 1, n-1, 2, n-2, ...: neighbours differ by each amount equally often, backwards included. So the rows that follow
  // from adding 1, 2, ... have all pairs of neighbours. Of an even number of programs, the later half are the first
  // ones backwards.
  const std::size_t rows = programs % 2 == 0 ? programs / 2 : programs;
  const std::size_t row = round / 2 % rows;
  std::vector<std::size_t> turns;
  for (std::size_t i = 0; i < programs; ++i) {
    const std::size_t step = i % 2 == 1 ? (i + 1) / 2 : (programs - i / 2) % programs;
    turns.push_back((row + step) % programs);
  }
  if (round % 2 == 1) std::reverse(turns.begin(), turns.end());
  return turns;
}

Precision of_each_comparison(Precision together, std::size_t comparisons) {
  together.confidence = 1.0 - (1.0 - together.confidence) / static_cast<double>(std::max<std::size_t>(1, comparisons));
  return together;
}

KnownSoFar known_together(std::span<const Versus> comparisons, double enough_percent) {
  std::vector<KnownSoFar> all;
  std::vector<KnownSoFar> open;  // and can become known
  for (const Versus& versus : comparisons) {
    const KnownSoFar& known = all.emplace_back(known_so_far(versus));
    const bool is_enough = known.half_width_percent && *known.half_width_percent <= enough_percent;
    if (!is_enough && known.floor_percent < enough_percent) open.push_back(known);
  }
  const std::vector<KnownSoFar>& waited_for = open.empty() ? all : open;
  KnownSoFar together{.runs = all.front().runs};
  for (const KnownSoFar& known : all) together.runs = std::min(together.runs, known.runs);
  for (const KnownSoFar& known : waited_for) {
    together.floor_percent = std::max(together.floor_percent, known.floor_percent);
  }
  together.half_width_percent =
      largest_if_all_known<double>(waited_for, [](const KnownSoFar& known) { return known.half_width_percent; });
  together.runs_needed =
      largest_if_all_known<std::size_t>(waited_for, [](const KnownSoFar& known) { return known.runs_needed; });
  together.half_width_percent_after = [waited_for](std::size_t all_runs) {
    return largest_if_all_known<double>(
        waited_for, [all_runs](const KnownSoFar& known) { return known.half_width_percent_after(all_runs); });
  };
  return together;
}

RankedTime RankedTime::of(const Versus& versus) {
  RankedTime time{versus.answer().ratio, versus.answer().interval};
  const bool is_told_from_first = versus.verdict == VersusVerdict::faster || versus.verdict == VersusVerdict::slower;
  if (versus.verdict == VersusVerdict::contradiction) time.interval.reset();
  if (time.interval && !is_told_from_first) {
    time.interval = Interval{std::min(1.0, time.interval->low), std::max(1.0, time.interval->high)};
  }
  return time;
}

std::vector<Place> places(std::span<const RankedTime> times) {
  const auto is_before = [](const RankedTime& one, const RankedTime& other) {
    return one.interval && other.interval && one.interval->high < other.interval->low;
  };
  std::vector<Place> all;
  for (std::size_t program = 0; program < times.size(); ++program) {
    const auto faster = std::count_if(times.begin(), times.end(),
                                      [&](const RankedTime& other) { return is_before(other, times[program]); });
    const auto slower = std::count_if(times.begin(), times.end(),
                                      [&](const RankedTime& other) { return is_before(times[program], other); });
    all.push_back({.program = program,
                   .first = 1 + static_cast<std::size_t>(faster),
                   .last = times.size() - static_cast<std::size_t>(slower)});
  }
  std::stable_sort(all.begin(), all.end(), [&times](const Place& one, const Place& other) {
    return times[one.program].ratio < times[other.program].ratio;
  });
  return all;
}

}  // namespace halcyon
