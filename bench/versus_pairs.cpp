// How many pairs of runs it takes to tell a slower program from a faster one, and how often the answer is wrong: a row
// of a Markdown table, and a row with what all pairs together say. DIRECTORY_A and DIRECTORY_B hold profiles run-*.h5
// of the two; runs with the same name were neighbours. Each repetition begins at another pair, goes on from pair to
// pair, and from the last to the first, and stops as `halcyon repeat --versus` does. As there, no run knows of another.
//
// usage: versus_pairs WITHIN_PERCENT REPETITIONS TRUE_RATIO DIRECTORY_A DIRECTORY_B
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "analyzer/repeat/versus.hpp"
#include "bench/stored_series.hpp"

namespace {

using namespace halcyon;

constexpr double confidence = 0.95;

struct Stopped {
  Versus versus;
  std::size_t pairs = 0;
};

std::string width_and_need(const TimeRatio& ratio) {
  return fmt::format("{:.1f} % | {}", ratio.half_width_percent().value_or(100.0),
                     ratio.pairs_needed ? std::to_string(*ratio.pairs_needed) : "–");
}

Stopped repetition(const std::vector<RunPair>& all, std::size_t first, const StoppingRule& rule,
                   const Precision& precision) {
  std::vector<RunPair> pairs;
  for (;;) {
    pairs.push_back(all[(first + pairs.size()) % all.size()]);
    const bool is_last = pairs.size() == all.size();
    if (!is_look(pairs.size(), rule.least_runs) && !is_last) continue;
    Stopped stopped{compare_pairs(pairs, precision), pairs.size()};
    const Outlook outlook = outlook_of(known_so_far(stopped.versus), rule, {});
    if (outlook.stopped_because || is_last) return stopped;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: versus_pairs WITHIN_PERCENT REPETITIONS TRUE_RATIO DIRECTORY_A DIRECTORY_B\n", stderr);
    return 2;
  }
  const double within_percent = std::strtod(argv[1], nullptr);
  const auto repetitions = static_cast<std::size_t>(std::strtoul(argv[2], nullptr, 10));
  const double truth = std::strtod(argv[3], nullptr);
  const std::vector<RepeatedRun> a = judged_runs(profiles_in(argv[4]), Knowledge::none);
  const std::vector<RepeatedRun> b = judged_runs(profiles_in(argv[5]), Knowledge::none);
  std::vector<RunPair> all;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) all.push_back({a[i], b[i]});
  if (all.size() < default_least_runs || repetitions == 0) {
    std::fputs("compared: there are too few pairs\n", stderr);
    return 2;
  }
  const Precision precision{.within_percent = within_percent, .confidence = confidence};
  const StoppingRule rule{.within_percent = versus_half_width_percent(within_percent)};
  std::map<VersusVerdict, std::size_t> verdicts;
  std::vector<std::size_t> pairs;
  std::vector<double> ratios;
  std::vector<double> half_widths;  // percent
  std::size_t holds = 0;
  for (std::size_t i = 0; i < repetitions; ++i) {
    const Stopped stopped = repetition(all, i * all.size() / repetitions, rule, precision);
    const TimeRatio& ratio = stopped.versus.undisturbed;
    ++verdicts[stopped.versus.verdict];
    pairs.push_back(stopped.pairs);
    ratios.push_back(ratio.ratio);
    half_widths.push_back(ratio.half_width_percent().value_or(100.0));
    holds += ratio.interval && ratio.interval->low <= truth && truth <= ratio.interval->high ? 1 : 0;
  }
  std::sort(pairs.begin(), pairs.end());
  std::sort(ratios.begin(), ratios.end());
  std::sort(half_widths.begin(), half_widths.end());
  fmt::print("| {:.4f} | {} | {} to {} | {:.4f} | {:.4f} to {:.4f} | {:.1f} % | {} | {} | {} | {} | {:.0f} % |\n",
             truth, pairs[repetitions / 2], pairs.front(), pairs.back(), ratios[repetitions / 2], ratios.front(),
             ratios.back(), half_widths[repetitions / 2], verdicts[VersusVerdict::slower],
             verdicts[VersusVerdict::same], verdicts[VersusVerdict::faster], verdicts[VersusVerdict::unclear],
             100.0 * static_cast<double>(holds) / static_cast<double>(repetitions));
  const Versus versus = compare_pairs(all, precision);
  fmt::print("| {:.4f} | {:.4f} | {} | {} | {} |\n", truth, versus.undisturbed.ratio,
             width_and_need(versus.undisturbed), name_of(versus.verdict), width_and_need(versus.measured));
  return 0;
}
