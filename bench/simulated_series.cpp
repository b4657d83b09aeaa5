// How well the statistics of `halcyon repeat` keep what they promise, on simulated series of runs, as Markdown tables
// for docs/repeat.md. Never passes or fails.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/repeat/dependence.hpp"
#include "analyzer/repeat/family.hpp"
#include "analyzer/repeat/series.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/repeat/versus.hpp"
#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "bench/laws.hpp"
#include "tests/truth/series.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

// What the estimates of all runs of a program have wrong in common, as CSV. Each program of the calibration laws is run
// several times, more or less disturbed. One line a run: estimate and interval of its undisturbed time in percent of
// the true one, and its interference.
void print_shared_errors(std::size_t programs, std::uint64_t seed) {
  constexpr std::size_t runs = 8;
  bench::Draw draw{std::mt19937_64(seed)};
  fmt::print("law,program,undisturbed,low,high,interference\n");
  for (const bench::Law& law : bench::calibration_laws) {
    for (std::size_t program = 0; program < programs; ++program) {
      const truth::Run usual = law.draw(draw);
      for (std::size_t i = 0; i < runs; ++i) {
        truth::Run run = usual;
        run.seed = draw.random();
        const double share = draw.one_of({0.0, 0.1, 0.5, 1.0, 1.0});
        run.hits *= share;
        run.slowdown *= share;
        const truth::Truth truth = truth::make_truth(run);
        const Analysis analysis = analyze(truth.profile, methods.front().name);
        if (analysis.no_verdict) continue;
        const double scale = 100.0 / (analysis.run_time_seconds - truth.excess_seconds);
        const Interval interval = analysis.undisturbed_interval_seconds();
        fmt::print("\"{}\",{},{:.4f},{:.4f},{:.4f},{:.2f}\n", law.name, program,
                   scale * analysis.undisturbed_time_seconds(), scale * interval.low, scale * interval.high,
                   analysis.result().interference_percent);
      }
      std::fflush(stdout);
    }
  }
}

struct Scenario {
  std::string_view name;
  truth::SeriesLaw law;
  double reach_of_b = 1.0;  // of a comparison: how much further B's intervals reach
};

// Changes of the usual law. `only`: the one of that name; all if it is empty.
std::vector<Scenario> scenarios(std::string_view only) {
  std::vector<Scenario> all;
  const auto add = [&all, only](std::string_view name, auto&& change) {
    if (!only.empty() && name != only) return;
    truth::SeriesLaw law;
    change(law);
    all.push_back({.name = name, .law = law});
  };
  add("independent, no run disturbed", [](truth::SeriesLaw& law) { law.disturbed = 0.0; });
  add("independent, 10 % of the runs disturbed", [](truth::SeriesLaw& law) { law.disturbed = 0.1; });
  add("independent, 30 %", [](truth::SeriesLaw& law) { law.disturbed = 0.3; });
  add("independent, 50 %", [](truth::SeriesLaw& law) { law.disturbed = 0.5; });
  add("independent, 30 %, exponential", [](truth::SeriesLaw& law) {
    law.disturbed = 0.3;
    law.is_heavy_tailed = false;
  });
  add("independent, 30 %, runs differ by 2 %", [](truth::SeriesLaw& law) {
    law.disturbed = 0.3;
    law.deviation = 0.02;
  });
  add("independent, 30 %, estimates twice as uncertain", [](truth::SeriesLaw& law) {
    law.disturbed = 0.3;
    law.error *= 2.0;
    law.error_of_loss *= 2.0;
  });
  for (const double correlation : {0.3, 0.7}) {
    for (const double deviation : {0.005, 0.02}) {
      const bool is_weak = correlation < 0.5;
      const bool is_narrow = deviation < 0.01;
      add(is_weak ? (is_narrow ? "AR(1) 0.3, 30 %" : "AR(1) 0.3, 30 %, runs differ by 2 %")
                  : (is_narrow ? "AR(1) 0.7, 30 %" : "AR(1) 0.7, 30 %, runs differ by 2 %"),
          [&](truth::SeriesLaw& law) {
            law.disturbed = 0.3;
            law.correlation = correlation;
            law.deviation = deviation;
          });
    }
  }
  add("drift by 1 % in 20 runs, 30 %", [](truth::SeriesLaw& law) {
    law.disturbed = 0.3;
    law.drift = 0.01;
  });
  add("drift by 5 % in 20 runs, 30 %", [](truth::SeriesLaw& law) {
    law.disturbed = 0.3;
    law.drift = 0.05;
  });
  add("20 runs that lose 100 %, then none disturbed", [](truth::SeriesLaw& law) {
    law.quiet_after = 20;
    law.disturbance = 1.0;
  });
  return all;
}

constexpr std::size_t most_runs = 200;  // of a series; a few hundred runs are more than anyone waits for

double percent(std::size_t part, std::size_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

std::string number(double value, int decimals = 0) {
  return std::isnan(value) ? "–" : fmt::format("{:.{}f}", value, decimals);
}

std::string runs_in_words(double runs) { return runs > most_runs ? fmt::format("> {}", most_runs) : number(runs); }

// How many runs the mean of the measured times takes in truth: (1.96 sd / W)^2, times (1 + r) / (1 - r) where runs are
// correlated. Not a number where the disturbances end.
double runs_for_measured(const truth::SeriesLaw& law, const Precision& precision) {
  if (law.quiet_after > 0) return std::nan("");
  const double square = law.is_heavy_tailed ? std::exp(1.0) : 2.0;  // mean of the squares over the square of the mean
  const double loss = law.disturbed * law.disturbance;
  const double variance = law.deviation * law.deviation + law.background * law.background +
                          law.disturbed * square * law.disturbance * law.disturbance - loss * loss;
  const double deviation_percent = 100.0 * std::sqrt(variance) / (1.0 + law.background + loss);
  const double independent =
      std::pow(normal_quantile(0.5 + precision.confidence / 2.0) * deviation_percent / precision.within_percent, 2);
  return independent * (1.0 + law.correlation) / (1.0 - law.correlation);
}

/// How a kind of mean did over many series.
struct Tally {
  std::size_t on_width = 0;
  std::size_t on_floor = 0;
  std::size_t held = 0;           // of those on width
  std::size_t said = 0;           // of those on width: runs are correlated, or drift
  std::size_t few = 0;            // of those on width: too few to see correlation
  std::size_t missed_unsaid = 0;  // of those on width: none of this is said
  std::vector<double> runs;       // (series) until the width is reached; one more than the most if it is not

  void add(std::size_t count, bool is_held, bool is_said, bool is_few) {
    runs.push_back(static_cast<double>(count));
    ++on_width;
    held += is_held ? 1 : 0;
    said += is_said ? 1 : 0;
    few += is_few ? 1 : 0;
    missed_unsaid += !is_held && !is_said && !is_few ? 1 : 0;
  }
  void add_without_end() { runs.push_back(most_runs + 1.0); }
  double median_runs() const { return quantile(runs, 0.5); }
};

/// A series as far as it has been made.
struct Made {
  std::vector<RepeatedRun> runs;
  std::vector<UncertainTime> estimates;
  std::vector<double> measured;     // s
  std::vector<double> undisturbed;  // s, true
};

// Adds to the tally if the series ends here. False: go on.
bool ends_by_undisturbed(Tally& tally, const Made& made, double truth, const Precision& precision) {
  const MeanTime mean = mean_of(made.estimates, precision);
  const Outlook outlook = outlook_of(known_so_far(mean), {.within_percent = precision.within_percent}, {});
  if (!outlook.stopped_because) return false;
  if (*outlook.stopped_because == StoppedBecause::floor) {
    ++tally.on_floor;
    tally.add_without_end();
    return true;
  }
  bool is_said = false;
  bool is_few = false;
  for (const Caveat& caveat : summarise(made.runs, {.precision = precision}).caveats) {
    is_said = is_said || caveat.code == CaveatCode::correlated || caveat.code == CaveatCode::drift;
    is_few = is_few || caveat.code == CaveatCode::few_runs;
  }
  tally.add(made.runs.size(), holds(*mean.interval_seconds, truth), is_said, is_few);
  return true;
}

// The measured times in subsessions of so many runs.
bool ends_by_measured(Tally& tally, const Made& made, std::size_t subsession, double truth,
                      const Precision& precision) {
  if (made.measured.size() / subsession < 2) return false;
  const double half_width = subsession_half_width(made.measured, subsession, precision.confidence);
  const double mean = mean_value(made.measured);
  if (100.0 * half_width / mean > precision.within_percent) return false;
  tally.add(made.measured.size(), holds(interval_around(mean, half_width), truth), false, false);
  return true;
}

/// One kind of series, told by three methods on the same runs.
struct Tallies {
  Tally undisturbed;
  Tally raw;
  Tally pilot;
};

void add_series(Tallies& tallies, const truth::SeriesLaw& law, std::uint64_t seed, const Precision& precision) {
  truth::SeriesSource source(law, seed);
  Made made;
  const double expected_loss = law.seconds * (law.background + law.disturbed * law.disturbance);
  bool is_told = false;
  bool is_raw_told = false;
  bool is_pilot_told = false;
  while (made.runs.size() < most_runs && !(is_told && is_raw_told && is_pilot_told)) {
    made.runs.push_back(source.next());
    made.estimates.push_back(made.runs.back().undisturbed->uncertain());
    made.measured.push_back(made.runs.back().measured_seconds);
    made.undisturbed.push_back(source.undisturbed_seconds());
    if (!is_look(made.runs.size(), default_least_runs)) continue;
    // With drift there is no other truth than the mean of what was made.
    const double truth = law.drift > 0.0 ? mean_value(made.undisturbed) : law.seconds;
    if (!is_told) is_told = ends_by_undisturbed(tallies.undisturbed, made, truth, precision);
    if (!is_raw_told) is_raw_told = ends_by_measured(tallies.raw, made, 1, truth + expected_loss, precision);
    const std::optional<std::size_t> subsession = subsession_size(made.measured, subsession_limit);
    if (!is_pilot_told && subsession) {
      is_pilot_told = ends_by_measured(tallies.pilot, made, *subsession, truth + expected_loss, precision);
    }
  }
  if (!is_told) tallies.undisturbed.add_without_end();
  if (!is_raw_told) tallies.raw.add_without_end();
  if (!is_pilot_told) tallies.pilot.add_without_end();
}

void print_coverage(std::size_t series, std::uint64_t seed, const Precision& precision, bool has_shared_error,
                    std::string_view only) {
  fmt::print(
      "| runs | stopped on width % | on the floor % | interval holds % | `correlated` or `drift` % | `few-runs` % | "
      "misses, nothing said % | runs, median | runs for measured times | raw: runs | raw: holds % | Pilot: runs | "
      "Pilot: holds % |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (Scenario scenario : scenarios(only)) {
    scenario.law.has_shared_error = has_shared_error;
    Tallies tallies;
    for (std::size_t i = 0; i < series; ++i) add_series(tallies, scenario.law, seed + i, precision);
    const Tally& undisturbed = tallies.undisturbed;
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", scenario.name,
               number(percent(undisturbed.on_width, series)), number(percent(undisturbed.on_floor, series)),
               number(percent(undisturbed.held, undisturbed.on_width), 1),
               number(percent(undisturbed.said, undisturbed.on_width)),
               number(percent(undisturbed.few, undisturbed.on_width)),
               number(percent(undisturbed.missed_unsaid, undisturbed.on_width), 1),
               runs_in_words(undisturbed.median_runs()), number(runs_for_measured(scenario.law, precision)),
               runs_in_words(tallies.raw.median_runs()), number(percent(tallies.raw.held, tallies.raw.on_width)),
               runs_in_words(tallies.pilot.median_runs()), number(percent(tallies.pilot.held, tallies.pilot.on_width)));
    std::fflush(stdout);
  }
}

/// How comparisons of two programs ended.
struct VersusTally {
  std::size_t right = 0;
  std::size_t wrong = 0;  // faster or slower, and it is not; or same, and the programs differ by more than that
  std::size_t unclear = 0;
  std::size_t held = 0;  // comparisons whose interval holds the true ratio
  std::vector<double> pairs;
};

void add_comparison(VersusTally& tally, const Scenario& scenario, double slower, std::uint64_t seed,
                    const Precision& precision) {
  truth::SeriesSource source(scenario.law, seed);
  std::vector<RunPair> pairs;
  const double width = versus_half_width_percent(precision.within_percent);
  while (true) {
    const bool is_b_first = turns_of_round(2, pairs.size()).front() == 1;
    const auto next_of_b = [&] { return source.next_of_other(slower, scenario.reach_of_b); };
    const RepeatedRun first = is_b_first ? next_of_b() : source.next();
    const RepeatedRun second = is_b_first ? source.next() : next_of_b();
    pairs.push_back(is_b_first ? RunPair{second, first} : RunPair{first, second});
    if (!is_look(pairs.size(), default_least_runs)) continue;
    const Versus versus = compare_pairs(pairs, precision);
    const Outlook outlook = outlook_of(known_so_far(versus), {.within_percent = width, .most_runs = most_runs}, {});
    if (!outlook.stopped_because) continue;
    tally.pairs.push_back(static_cast<double>(pairs.size()));
    tally.held += holds(*versus.undisturbed.interval, slower) ? 1 : 0;
    constexpr double rounding = 1e-9;
    const bool is_same = 100.0 * std::abs(slower - 1.0) <= precision.within_percent + rounding;
    if (versus.verdict == VersusVerdict::unclear) {
      ++tally.unclear;
    } else if (versus.verdict == VersusVerdict::same) {
      ++(is_same ? tally.right : tally.wrong);
    } else {
      ++(versus.verdict == VersusVerdict::slower && slower > 1.0 ? tally.right : tally.wrong);
    }
    return;
  }
}

void print_versus(std::size_t series, std::uint64_t seed, const Precision& precision, std::string_view only) {
  fmt::print(
      "| runs | B takes longer by % | right % | wrong % | unclear % | interval holds % | pairs, median |\n"
      "|---|---|---|---|---|---|---|\n");
  std::vector<Scenario> all = scenarios(only);
  if (only.empty()) all.push_back({"independent, 30 %, B's intervals reach twice as far", {.disturbed = 0.3}, 2.0});
  for (Scenario scenario : all) {
    if (scenario.law.quiet_after > 0) continue;  // so disturbed before that estimates may be negative, without a ratio
    scenario.law.has_shared_error = true;
    for (const double slower : {1.0, 1.01, 1.02, 1.05}) {
      VersusTally tally;
      for (std::size_t i = 0; i < series; ++i) add_comparison(tally, scenario, slower, seed + i, precision);
      fmt::print("| {} | {:.0f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} |\n", scenario.name,
                 100.0 * (slower - 1.0), percent(tally.right, series), percent(tally.wrong, series),
                 percent(tally.unclear, series), percent(tally.held, series), quantile(tally.pairs, 0.5));
      std::fflush(stdout);
    }
  }
}

/// How families of programs ended. One of them may be slower than the others, which are equal.
struct FamilyTally {
  std::size_t told_wrongly = 0;  // families of which one was called faster or slower, and is not
  std::size_t found = 0;         // families of which the slower one was called so
  std::size_t unclear = 0;       // families of which any was unclear
  std::size_t held = 0;          // families of which all intervals hold their ratio
  std::vector<double> rounds;
};

void add_family(FamilyTally& tally, const Scenario& scenario, std::span<const double> slower, std::uint64_t seed,
                const Precision& precision, bool is_together) {
  truth::SeriesSource source(scenario.law, seed);
  const std::size_t comparisons = slower.size() - 1;
  const Precision of_each = is_together ? of_each_comparison(precision, comparisons) : precision;
  const double width = versus_half_width_percent(precision.within_percent);
  std::vector<std::vector<RunPair>> pairs(comparisons);
  for (std::size_t round = 0;; ++round) {
    std::vector<RepeatedRun> runs(slower.size());
    for (const std::size_t program : turns_of_round(slower.size(), round)) {
      runs[program] = source.next_of_other(slower[program]);
    }
    for (std::size_t other = 0; other < comparisons; ++other) pairs[other].push_back({runs[0], runs[other + 1]});
    if (!is_look(round + 1, default_least_runs)) continue;
    std::vector<Versus> all;
    for (const std::vector<RunPair>& each : pairs) all.push_back(compare_pairs(each, of_each));
    const Outlook outlook =
        outlook_of(known_together(all, width), {.within_percent = width, .most_runs = most_runs}, {});
    if (!outlook.stopped_because) continue;
    bool is_wrong = false;
    bool is_found = false;
    bool is_any_unclear = false;
    bool do_all_hold = true;
    for (std::size_t other = 0; other < comparisons; ++other) {
      const bool is_slower = slower[other + 1] > 1.0;
      const VersusVerdict verdict = all[other].verdict;
      const bool is_called_other = verdict == VersusVerdict::faster || verdict == VersusVerdict::slower ||
                                   verdict == VersusVerdict::contradiction;
      is_found = is_found || (is_slower && verdict == VersusVerdict::slower);
      is_wrong = is_wrong || (is_called_other && !(is_slower && verdict == VersusVerdict::slower));
      is_any_unclear = is_any_unclear || verdict == VersusVerdict::unclear;
      do_all_hold = do_all_hold && holds(*all[other].undisturbed.interval, slower[other + 1]);
    }
    tally.told_wrongly += is_wrong ? 1 : 0;
    tally.found += is_found ? 1 : 0;
    tally.unclear += is_any_unclear ? 1 : 0;
    tally.held += do_all_hold ? 1 : 0;
    tally.rounds.push_back(static_cast<double>(round + 1));
    return;
  }
}

void print_families(std::size_t series, std::uint64_t seed, const Precision& precision, std::string_view only) {
  fmt::print(
      "| runs | programs | called different, all equal % | each at its own % | all intervals hold % | rounds, median | "
      "one 3 % slower: found % | others called different % | unclear % | rounds, median |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  for (Scenario scenario : scenarios(only)) {
    if (scenario.law.quiet_after > 0) continue;  // as in print_versus()
    scenario.law.has_shared_error = true;
    for (const std::size_t programs : {3, 4}) {
      const std::vector<double> equal(programs, 1.0);
      std::vector<double> one_slower = equal;
      one_slower.back() = 1.03;
      FamilyTally of_equal;
      FamilyTally each_alone;
      FamilyTally of_slower;
      for (std::size_t i = 0; i < series; ++i) {
        add_family(of_equal, scenario, equal, seed + i, precision, true);
        add_family(each_alone, scenario, equal, seed + i, precision, false);
        add_family(of_slower, scenario, one_slower, seed + i, precision, true);
      }
      fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.0f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} |\n", scenario.name,
                 programs, percent(of_equal.told_wrongly, series), percent(each_alone.told_wrongly, series),
                 percent(of_equal.held, series), quantile(of_equal.rounds, 0.5), percent(of_slower.found, series),
                 percent(of_slower.told_wrongly, series), percent(of_slower.unclear, series),
                 quantile(of_slower.rounds, 0.5));
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The statistics of repeated runs, on simulated series."};
  std::size_t series = 2000;
  std::uint64_t seed = 2018;
  std::string set = "coverage";
  app.add_option("--series", series, "Of each kind; of shared: programs of each law")->capture_default_str();
  app.add_option("--seed", seed, "Of the draws")->capture_default_str();
  app.add_option(
         "--set", set,
         "What to simulate: `coverage` without errors that all runs share, `shared-coverage` with them, `versus`, "
         "`families` of three and four programs; `shared`: what programs of bench/laws.hpp show of such errors")
      ->check(CLI::IsMember({"coverage", "shared-coverage", "versus", "families", "shared"}))
      ->capture_default_str();
  double within = 1.0;
  app.add_option("--within", within, "Half width in percent")->capture_default_str();
  std::string only;
  app.add_option("--only", only, "The kind of runs of this name, as the first column has it; by default all");
  CLI11_PARSE(app, argc, argv);
  const Precision precision{.within_percent = within};
  if (set == "coverage") {
    print_coverage(series, seed, {.within_percent = within, .shared_error = 0.0}, false, only);
  }
  if (set == "shared-coverage") print_coverage(series, seed, precision, true, only);
  if (set == "versus") print_versus(series, seed, precision, only);
  if (set == "families") print_families(series, seed, precision, only);
  if (set == "shared") print_shared_errors(series, seed);
}
