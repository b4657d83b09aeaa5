// How near the estimates of every method come to the known truth of synthetic runs, as Markdown tables for
// docs/accuracy.md. Never passes or fails.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/validate/validation.hpp"
#include "bench/laws.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

using bench::Draw;

truth::Run drawn_run(Draw& draw) {
  using truth::DelayLaw, truth::JitterLaw;
  truth::Run run;
  run.segments = draw.one_of<std::size_t>({200, 500, 1500});
  run.jitter_law = draw.one_of({JitterLaw::none, JitterLaw::normal, JitterLaw::lognormal, JitterLaw::gamma});
  run.jitter = run.jitter_law == JitterLaw::none ? 0.0 : draw.uniform(0.01, 0.05);
  run.delay_law = draw.one_of({DelayLaw::normal, DelayLaw::exponential, DelayLaw::lognormal, DelayLaw::pareto});
  run.seed = draw.random();
  return run;
}

void disturb(truth::Run& run, Draw& draw, double fewest_hits, double most_hits) {
  run.slowdown = draw.uniform(0.01, 0.45);
  run.hits = draw.log_uniform(fewest_hits, most_hits);
}

// Three phases of different length, each with at least as many segments as the smallest group of the other tables.
void make_phases(truth::Run& run, Draw& draw) {
  run.phases = {
      {2, 1e-3 * draw.uniform(0.5, 2.0)}, {1, 1e-3 * draw.uniform(2.0, 8.0)}, {1, 1e-3 * draw.uniform(0.2, 4.0)}};
  run.segments *= 4;
}

struct Table {
  std::string_view title;
  std::vector<truth::Run> runs;
};

std::vector<Table> tables(std::uint64_t seed, std::size_t cases) {
  Draw draw{std::mt19937_64(seed)};
  std::vector<Table> result;
  const auto table = [&](std::string_view title, auto&& make) {
    result.push_back({title, {}});
    for (std::size_t i = 0; i < cases; ++i) {
      truth::Run run = drawn_run(draw);
      make(run);
      result.back().runs.push_back(run);
    }
  };
  table("One group, undisturbed", [](truth::Run&) {});
  table("One group, 0.05 to 4 delays a segment", [&](truth::Run& run) { disturb(run, draw, 0.05, 4.0); });
  table("One group, 4 to 16 delays a segment", [&](truth::Run& run) { disturb(run, draw, 4.0, 16.0); });
  table("Three phases, undisturbed", [&](truth::Run& run) { make_phases(run, draw); });
  table("Three phases, 0.05 to 4 delays a segment", [&](truth::Run& run) {
    make_phases(run, draw);
    disturb(run, draw, 0.05, 4.0);
  });
  table("Three phases, 4 to 16 delays a segment", [&](truth::Run& run) {
    make_phases(run, draw);
    disturb(run, draw, 4.0, 16.0);
  });
  table("Three phases on 16 ranks, bursts in 10 to 50 % of the time", [&](truth::Run& run) {
    make_phases(run, draw);
    disturb(run, draw, 0.05, 4.0);
    run.ranks = 16;
    run.exposed = draw.uniform(0.1, 0.5);
  });
  table("Three phases, work that drifts by 5 to 40 %, undisturbed", [&](truth::Run& run) {
    make_phases(run, draw);
    for (truth::Phase& phase : run.phases) phase.growth = draw.uniform(0.05, 0.4);
  });
  table("Three phases, work that drifts by 5 to 40 %, 0.05 to 4 delays a segment", [&](truth::Run& run) {
    make_phases(run, draw);
    for (truth::Phase& phase : run.phases) phase.growth = draw.uniform(0.05, 0.4);
    disturb(run, draw, 0.05, 4.0);
  });
  // In the tables above, delays hit computation, and only durations show them. Delays in calls leave more traces.
  const auto use_calls = [&](truth::Run& run) {
    run.calls = static_cast<std::uint64_t>(draw.log_uniform(8.0, 200.0));
    run.slack = draw.uniform(0.0, 0.02);
  };
  table("One group, undisturbed, calls beyond the usual by 0 to 2 % of the time", use_calls);
  table("One group, 4 to 16 delays a segment, 50 to 100 % of them in calls", [&](truth::Run& run) {
    use_calls(run);
    disturb(run, draw, 4.0, 16.0);
    run.in_calls = draw.uniform(0.5, 1.0);
  });
  return result;
}

// A quantile that is one of the values, without interpolation, so that each figure is that of a run.
double order_statistic(std::vector<double> values, double probability) {
  if (values.empty()) return std::nan("");
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(probability * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

struct Tally {
  std::vector<double> accuracy, error, estimate;  // of judged runs
  double width = 0.0;
  std::size_t unknown = 0, held = 0, runs = 0;
  std::size_t misled = 0;  // judged green, but truly red
};

// Intervals are shown with one decimal, and are compared with the same precision.
constexpr double shown_precision = 0.05;

void add(Tally& score, const Analysis& analysis, std::size_t method, double truth) {
  const MethodResult& result = analysis.methods[method];
  ++score.runs;
  const bool held =
      result.interval_percent.low - shown_precision <= truth && truth <= result.interval_percent.high + shown_precision;
  score.held += held ? 1 : 0;
  score.width += result.interval_percent.high - result.interval_percent.low;
  if (result.verdict == Verdict::unknown) {
    ++score.unknown;
    return;
  }
  if (result.verdict == Verdict::green && verdict_of(truth) == Verdict::red) ++score.misled;
  score.accuracy.push_back(soft_accuracy(truth, result.interference_percent));
  score.error.push_back(std::abs(truth - result.interference_percent));
  score.estimate.push_back(result.interference_percent);
}

double seconds_analyzing = 0.0;
std::size_t analyses = 0;

Analysis timed_analysis(const Profile& profile) {
  const auto began = std::chrono::steady_clock::now();
  Analysis analysis = analyze(profile, methods.front().name);
  seconds_analyzing += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ++analyses;
  return analysis;
}

void print_tables(std::uint64_t seed, std::size_t cases) {
  for (const Table& table : tables(seed, cases)) {
    std::vector<Tally> scores(methods.size());
    std::vector<double> truths;
    for (const truth::Run& run : table.runs) {
      const truth::Truth truth = truth::make_truth(run);
      const Analysis analysis = timed_analysis(truth.profile);
      truths.push_back(truth.interference_percent);
      for (std::size_t m = 0; m < methods.size(); ++m) add(scores[m], analysis, m, truth.interference_percent);
    }
    fmt::print("\n**{}** (true interference {:.1f} to {:.1f} %)\n\n", table.title, order_statistic(truths, 0.0),
               order_statistic(truths, 1.0));
    fmt::print(
        "| method | accuracy, median | 5th percentile | least | error pp, median | 90th | 95th | reported %, median | "
        "interval holds % | its width pp | unknown % | green though red % "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Tally& score = scores[m];
      const double runs = static_cast<double>(score.runs);
      fmt::print(
          "| `{}` | {:.3f} | {:.3f} | {:.3f} | {:.2f} | {:.2f} | {:.2f} | {:.1f} | {:.0f} | {:.1f} | {:.0f} | {:.1f} "
          "|\n",
          methods[m].name, order_statistic(score.accuracy, 0.5), order_statistic(score.accuracy, 0.05),
          order_statistic(score.accuracy, 0.0), order_statistic(score.error, 0.5), order_statistic(score.error, 0.9),
          order_statistic(score.error, 0.95), order_statistic(score.estimate, 0.5),
          100.0 * static_cast<double>(score.held) / runs, score.width / runs,
          100.0 * static_cast<double>(score.unknown) / runs, 100.0 * static_cast<double>(score.misled) / runs);
    }
    std::fflush(stdout);
  }
}

// The default method's results on runs of one law, or of many.
struct LawTally {
  std::vector<double> truth, error, accuracy, width;  // error and accuracy of judged runs
  std::size_t runs = 0, judged = 0, held = 0;
  std::size_t undisturbed = 0, undisturbed_red = 0;
  std::size_t truly_red = 0, truly_red_green = 0;

  void add(const Analysis& analysis, double true_percent) {
    const MethodResult& result = analysis.result();
    const Interval& interval = result.interval_percent;
    ++runs;
    truth.push_back(true_percent);
    width.push_back(interval.high - interval.low);
    held += interval.low - shown_precision <= true_percent && true_percent <= interval.high + shown_precision ? 1 : 0;
    const bool is_undisturbed = true_percent <= 0.0;
    const bool is_truly_red = verdict_of(true_percent) == Verdict::red;
    undisturbed += is_undisturbed ? 1 : 0;
    truly_red += is_truly_red ? 1 : 0;
    undisturbed_red += is_undisturbed && result.verdict == Verdict::red ? 1 : 0;
    truly_red_green += is_truly_red && result.verdict == Verdict::green ? 1 : 0;
    if (result.verdict == Verdict::unknown) return;
    ++judged;
    error.push_back(std::abs(true_percent - result.interference_percent));
    accuracy.push_back(soft_accuracy(true_percent, result.interference_percent));
  }

  void print(std::string_view name) const {
    fmt::print(
        "| {} | {:.0f}–{:.0f} | {:.3f} / {:.3f} / {:.3f} | {:.1f} / {:.1f} / {:.1f} | {:.0f} | {} of {} | {} of {} | "
        "{:.0f} | {:.1f} |\n",
        name, order_statistic(truth, 0.0), order_statistic(truth, 1.0), order_statistic(accuracy, 0.5),
        order_statistic(accuracy, 0.05), order_statistic(accuracy, 0.0), order_statistic(error, 0.5),
        order_statistic(error, 0.9), order_statistic(error, 1.0),
        100.0 * static_cast<double>(judged) / static_cast<double>(runs), undisturbed_red, undisturbed, truly_red_green,
        truly_red, 100.0 * static_cast<double>(held) / static_cast<double>(runs), order_statistic(width, 0.5));
    std::fflush(stdout);
  }
};

void print_laws(const std::vector<bench::Law>& laws, std::uint64_t seed, std::size_t cases, std::FILE* csv) {
  fmt::print(
      "\n| law | true % | accuracy: median / 5th percentile / least | error pp: median / 90th / most | judged % | red "
      "though undisturbed | green though red | interval holds % | its width pp, median |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  LawTally all;
  Draw draw{std::mt19937_64(seed)};
  for (const bench::Law& law : laws) {
    LawTally tally;
    for (std::size_t i = 0; i < cases; ++i) {
      const truth::Run run = law.draw(draw);
      const truth::Truth truth = truth::make_truth(run);
      const Analysis analysis = timed_analysis(truth.profile);
      tally.add(analysis, truth.interference_percent);
      all.add(analysis, truth.interference_percent);
      if (csv == nullptr) continue;
      fmt::print(csv, "\"{}\",{},{:.3f},{},{}", law.name, i, truth.interference_percent,
                 name_of(analysis.result().verdict), run.jitter);
      for (const MethodResult& method : analysis.methods) {
        fmt::print(csv, ",{:.3f},{:.3f},{:.3f}", method.interference_percent, method.interval_percent.low,
                   method.interval_percent.high);
      }
      fmt::print(csv, "\n");
    }
    tally.print(law.name);
  }
  all.print("**all**");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Accuracy of the estimators on synthetic runs, as Markdown."};
  std::size_t cases = 200;
  std::uint64_t seed = 2018;
  std::string set = "tables";
  std::string csv_file;
  app.add_option("--cases", cases, "Runs of each kind")->capture_default_str();
  app.add_option("--seed", seed, "Of the draws")->capture_default_str();
  app.add_option("--set", set, "What to draw: the tables of all methods, or the laws (bench/laws.hpp)")
      ->check(CLI::IsMember({"tables", "laws", "calibration", "failures", "attack"}))
      ->capture_default_str();
  app.add_option("--csv", csv_file, "Of laws: every run and estimate, for a closer look");
  CLI11_PARSE(app, argc, argv);

  std::FILE* const csv = csv_file.empty() ? nullptr : std::fopen(csv_file.c_str(), "w");
  if (set == "tables") print_tables(seed, cases);
  if (set == "laws") print_laws(bench::reported_laws, seed, cases, csv);
  if (set == "calibration") print_laws(bench::calibration_laws, seed, cases, csv);
  if (set == "failures") print_laws(bench::failure_laws, seed, cases, csv);
  if (set == "attack") print_laws(bench::attack_laws, seed, cases, csv);
  if (csv != nullptr) std::fclose(csv);
  fmt::print("\n{} analyses took {:.0f} ms each.\n", analyses, 1e3 * seconds_analyzing / static_cast<double>(analyses));
}
