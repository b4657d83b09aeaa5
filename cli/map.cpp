// halcyon map: how the time of a program depends on several things at once, from few of their combinations.
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/search/surface.hpp"
#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "cli/launch/signal_relay.hpp"
#include "cli/series/varied_runs.hpp"
#include "report/series/map.hpp"
#include "report/series/map_page.hpp"

namespace halcyon::cli {
namespace {

constexpr Eigen::Index points_beyond_terms = 2;  // by default, so that the error of the surface is known
constexpr std::size_t most_points = 10000;       // of a grid

struct MapOptions {
  std::vector<std::string> vary;
  int points = 0;
  int runs = 2;
  std::string confidence = default_confidence;
  VariedRunsOptions common;
};

// A series that is resumed may have had other values.
std::vector<VariedRun> runs_of_grid(const std::vector<VariedRun>& runs, const std::vector<Point>& grid) {
  std::vector<VariedRun> of_grid;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(of_grid),
               [&grid](const VariedRun& run) { return std::find(grid.begin(), grid.end(), run.values) != grid.end(); });
  return of_grid;
}

std::vector<MeasuredPoint> measured_points(const std::vector<VariedRun>& runs, bool is_time) {
  std::vector<MeasuredPoint> points;
  for (const VariedRun& run : runs) {
    const auto known = std::find_if(points.begin(), points.end(),
                                    [&run](const MeasuredPoint& each) { return each.point == run.values; });
    MeasuredPoint& point = known != points.end() ? *known : points.emplace_back(MeasuredPoint{.point = run.values});
    point.responses.push_back(is_time ? run.seconds() : *run.printed);
  }
  return points;
}

// The points in the order in which they are measured, the most telling ones first.
std::vector<Point> plan_of(const std::vector<Factor>& factors, const std::vector<Point>& grid, int points) {
  const Eigen::MatrixXd candidates = quadratic_terms(factors, grid);
  const std::size_t wanted =
      points > 0 ? static_cast<std::size_t>(points) : static_cast<std::size_t>(candidates.cols() + points_beyond_terms);
  std::vector<std::size_t> chosen;
  std::vector<Point> plan;
  while (chosen.size() < wanted) {
    const std::optional<std::size_t> next = d_optimal_next(candidates, chosen);
    if (!next) break;
    chosen.push_back(*next);
    plan.push_back(grid[*next]);
  }
  return plan;
}

void make_runs(const MapOptions& options, const std::vector<Point>& grid, VariedRuns& series, MapResult& result,
               SignalRelay& relay) {
  const std::vector<Point> plan = plan_of(result.factors, grid, options.points);
  const Progress progress;
  for (const Point& point : plan) {
    const auto count = [&] {
      return std::count_if(series.runs().begin(), series.runs().end(),
                           [&point](const VariedRun& run) { return run.values == point; });
    };
    while (result.ended_early.empty() && count() < options.runs) {
      progress.begin(series.runs().size(), series.next_words(point));
      if (const Status made = series.make(point, relay); !made) result.ended_early = made.failure().message;
    }
  }
}

std::optional<Surface> surface_of(const MapResult& result) {
  std::vector<Point> points;
  std::vector<double> responses;
  for (const MeasuredPoint& each : result.points) {
    points.push_back(each.point);
    responses.push_back(each.mean());
  }
  return points.empty() ? std::nullopt : fit_better_surface(result.factors, points, responses);
}

int map(const MapOptions& options, const Words& launch) {
  if (launch.empty()) return fail("no launch command given: halcyon map --vary N=1,2,4 -- mpirun -np 4 ./app {N}");
  MapResult result{.command = quoted(launch), .is_time = options.common.read.empty()};
  VariedRunsSetting setting{.subcommand = "map", .launch = launch};
  std::size_t size = 1;
  for (const std::string& text : options.vary) {
    const Outcome<Factor> factor = parse_factor(text);
    if (!factor) return fail("--vary: " + factor.failure().message);
    setting.names.push_back(factor->name);
    result.factors.push_back(*factor);
    size *= factor->levels.size();
    if (size > most_points) return fail("--vary: these are more than 10000 combinations");
  }
  const Outcome<double> confidence = parse_share(options.confidence, {0.5, 0.999});
  if (!confidence) return fail("--confidence: " + confidence.failure().message);
  result.confidence = *confidence;
  Outcome<VariedRuns> series = VariedRuns::open(std::move(setting), options.common);
  if (!series) return fail(series.failure().message);

  const std::vector<Point> grid = grid_of(result.factors);
  SignalRelay relay;
  make_runs(options, grid, *series, result, relay);
  result.runs = runs_of_grid(series->runs(), grid);
  result.points = measured_points(result.runs, result.is_time);
  result.surface = surface_of(result);
  const Status written = write_varied_results(*series, "map.json", options.common, map_text(result), map_json(result),
                                              [&result] { return map_html(result); });
  if (!written) return fail(written.failure().message);
  relay.end_as_asked();
  return result.ended_early.empty() ? passed : bad_usage_or_file;
}

}  // namespace

void add_map(const Command& program) {
  const Command command = program.subcommand(
      "map", "Predict the time of a program for all combinations of values from runs of a few of them");
  auto options = std::make_shared<MapOptions>();
  command
      .option("--vary", options->vary,
              "Value to vary: {NAME} in the command becomes one of the numbers; may be repeated")
      .placeholder("NAME=LIST")
      .required()
      .repeatable();
  command.option("--points", options->points, "Combinations to run. Default: two more than the surface needs")
      .placeholder("N")
      .from_to(1, 10000);
  command.option("-r,--runs", options->runs, "Runs of each combination")
      .placeholder("N")
      .from_to(1, 1000)
      .with_default();
  add_confidence_option(command, options->confidence);
  add_varied_runs_options(command, options->common);
  command.notes(
      "Runs the command after '--' with those combinations from which the others can be predicted best, and predicts\n"
      "the others with a quadratic surface. Times are undisturbed times, or measured times if a run has no verdict.\n"
      "A shell's ${NAME} in the command stays as it is.\n"
      "Examples:\n"
      "  halcyon map --vary ranks=1,2,4,8 --vary size=100,200,400 -- mpirun -np {ranks} ./app {size}\n"
      "  halcyon map --resume halcyon-map.20260101T120000 --points 12 --vary ranks=1,2,4,8 \\\n"
      "    --vary size=100,200,400 -- mpirun -np {ranks} ./app {size}");
  command.starts([options](const Words& launch) { return map(*options, launch); });
}

}  // namespace halcyon::cli
