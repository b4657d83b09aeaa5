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
#include "analyzer/repeat/series.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/statistics/moments.hpp"
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
        if (analysis.unknown) continue;
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
};

// Changes of the usual law.
std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  const auto add = [&all](std::string_view name, auto&& change) {
    truth::SeriesLaw law;
    change(law);
    all.push_back({name, law});
  };
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
  return all;
}

/// How a kind of mean did over many series.
struct Tally {
  std::size_t series = 0;
  std::size_t stopped = 0;  // on width
  std::size_t held = 0;     // of those
  std::size_t said = 0;     // of those, with a caveat
  std::size_t missed_unsaid = 0;
  std::vector<double> runs;  // (series) made, at most `most_runs`

  double median_runs() const { return order_statistic(runs); }
  static double order_statistic(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
};

constexpr std::size_t most_runs = 400;

void count(Tally& tally, std::size_t runs, bool is_stopped, bool is_held, bool is_said) {
  ++tally.series;
  tally.runs.push_back(static_cast<double>(runs));
  if (!is_stopped) return;
  ++tally.stopped;
  if (is_held) ++tally.held;
  if (is_said) ++tally.said;
  if (!is_held && !is_said) ++tally.missed_unsaid;
}

double percent(std::size_t part, std::size_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : std::nan("");
}

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

void print_coverage(std::size_t series, std::uint64_t seed, const Precision& precision) {
  fmt::print(
      "| runs | stopped on width % | held % | said why not % | missed unsaid % | median runs | raw: held % | raw: runs "
      "| Pilot: held % | Pilot: runs |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Scenario& scenario : scenarios()) {
    Tally undisturbed;
    Tally raw;
    Tally pilot;
    for (std::size_t i = 0; i < series; ++i) {
      truth::SeriesSource source(scenario.law, seed + i);
      std::vector<SeriesRun> runs;
      std::vector<double> measured;
      std::vector<double> all_true;
      bool is_done = false;
      bool is_raw_done = false;
      bool is_pilot_done = false;
      while (runs.size() < most_runs && !(is_done && is_raw_done && is_pilot_done)) {
        runs.push_back(source.next());
        measured.push_back(runs.back().measured_seconds);
        all_true.push_back(source.undisturbed_seconds());
        if (!is_look(runs.size(), default_least_runs)) continue;
        const double drift_truth = mean_value(all_true);
        const double truth = scenario.law.drift > 0.0 ? drift_truth : scenario.law.seconds;
        const double loss =
            scenario.law.seconds * (scenario.law.background + scenario.law.disturbed * scenario.law.disturbance);
        if (!is_done) {
          const SeriesSummary summary = summarise(runs, {.precision = precision});
          if (*summary.undisturbed.half_width_percent() <= precision.within_percent) {
            is_done = true;
            const bool is_said = std::any_of(summary.caveats.begin(), summary.caveats.end(), [](const Caveat& one) {
              return one.code == CaveatCode::correlated || one.code == CaveatCode::drift;
            });
            count(undisturbed, runs.size(), true, holds(*summary.undisturbed.interval_seconds, truth), is_said);
          }
        }
        if (!is_raw_done) {
          const double half = subsession_half_width(measured, 1, precision.confidence);
          const double mean = mean_value(measured);
          if (100.0 * half / mean <= precision.within_percent) {
            is_raw_done = true;
            count(raw, runs.size(), true, holds(interval_around(mean, half), truth + loss), false);
          }
        }
        if (!is_pilot_done) {
          const std::optional<std::size_t> size = subsession_size(measured, subsession_limit);
          if (size && measured.size() / *size >= 2) {
            const double half = subsession_half_width(measured, *size, precision.confidence);
            const double mean = mean_value(measured);
            if (100.0 * half / mean <= precision.within_percent) {
              is_pilot_done = true;
              count(pilot, runs.size(), true, holds(interval_around(mean, half), truth + loss), false);
            }
          }
        }
      }
      if (!is_done) count(undisturbed, most_runs, false, false, false);
      if (!is_raw_done) count(raw, most_runs, false, false, false);
      if (!is_pilot_done) count(pilot, most_runs, false, false, false);
    }
    fmt::print("| {} | {:.0f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} |\n",
               scenario.name, percent(undisturbed.stopped, series), percent(undisturbed.held, undisturbed.stopped),
               percent(undisturbed.said, undisturbed.stopped), percent(undisturbed.missed_unsaid, undisturbed.stopped),
               undisturbed.median_runs(), percent(raw.held, raw.stopped), raw.median_runs(),
               percent(pilot.held, pilot.stopped), pilot.median_runs());
    std::fflush(stdout);
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
  app.add_option("--set", set, "What to simulate")->check(CLI::IsMember({"coverage", "shared"}))->capture_default_str();
  double within = 1.0;
  app.add_option("--within", within, "Half width in percent")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (set == "coverage") print_coverage(series, seed, {.within_percent = within});
  if (set == "shared") print_shared_errors(series, seed);
}
