// How often runs are accused of another run's loss (analyzer/site/culprits), rightly and wrongly, where the truth is
// known, as a Markdown table for docs/who.md. Never passes or fails.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <set>

#include "analyzer/site/culprits.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "bench/draw.hpp"

namespace {

using namespace halcyon;
using Series = std::vector<double>;

/// A run that lost time, and those beside it.
struct Scene {
  std::vector<Series> losses;  // of files, of messages
  std::vector<Suspect> suspects;
  std::map<std::size_t, double> guilty;  // suspect: s
};

double lognormal(bench::Draw& draw, double deviation) {
  return std::lognormal_distribution<>(0.0, deviation)(draw.random);
}
double exponential(bench::Draw& draw, double mean) { return std::exponential_distribution<>(1.0 / mean)(draw.random); }

double sum_of(const Series& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

// On and off for times that have no memory, each time with another amount.
Series bursts(bench::Draw& draw, std::size_t slices, double on, double off) {
  Series values(slices, 0.0);
  const double amount = lognormal(draw, 1.0);
  for (double at = -exponential(draw, on + off); at < static_cast<double>(slices);) {
    const double end = at + exponential(draw, on);
    const double now = amount * lognormal(draw, 0.5);
    for (double k = std::max(0.0, std::ceil(at)); k < std::min(end, static_cast<double>(slices)); ++k)
      values[static_cast<std::size_t>(k)] = now;
    at = end + exponential(draw, off);
  }
  return values;
}

// As often as a program writes checkpoints: never quite at a fixed period, unless `jitter` is 0.
Series checkpoints(bench::Draw& draw, std::size_t slices, double period, double length, double jitter, double phase) {
  Series values(slices, 0.0);
  for (double at = phase - period; at < static_cast<double>(slices);
       at += period * (1.0 + jitter * std::normal_distribution<>()(draw.random))) {
    for (double k = std::max(0.0, std::ceil(at)); k < std::min(at + length, static_cast<double>(slices)); ++k)
      values[static_cast<std::size_t>(k)] = 1.0 + 0.1 * draw.uniform(-1.0, 1.0);
  }
  return values;
}

Series wandering(bench::Draw& draw, std::size_t slices) {
  Series values(slices, 0.0);
  double level = 0.0;
  for (double& value : values) value = std::exp(level += 0.1 * std::normal_distribution<>()(draw.random));
  return values;
}

// A job that is there for a part of the time.
void let_come_and_go(bench::Draw& draw, Series& values) {
  const auto n = static_cast<double>(values.size());
  const double begin = draw.with_probability(0.5) ? 0.0 : draw.uniform(0.0, 0.8 * n);
  const double end = draw.with_probability(0.5) ? n : draw.uniform(begin, n);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (static_cast<double>(k) < begin || static_cast<double>(k) >= end) values[k] = 0.0;
}

Series any_demand(bench::Draw& draw, std::size_t slices) {
  Series values;
  switch (draw.one_of({0, 1, 2, 3})) {
    case 0: values = bursts(draw, slices, draw.log_uniform(3.0, 40.0), draw.log_uniform(10.0, 200.0)); break;
    case 1: {
      const double period = draw.log_uniform(30.0, 300.0);
      values = checkpoints(draw, slices, period, draw.uniform(3.0, 0.3 * period), draw.uniform(0.02, 0.3),
                           draw.uniform(0.0, period));
      break;
    }
    case 2: values = wandering(draw, slices); break;
    default: values.assign(slices, 1.0); break;
  }
  let_come_and_go(draw, values);
  return values;
}

// What the run loses by itself, or to nobody who is recorded: 0.02 s a slice, in bursts and all the time.
Series own_loss(bench::Draw& draw, std::size_t slices) {
  Series loss = bursts(draw, slices, draw.log_uniform(1.0, 20.0), draw.log_uniform(10.0, 100.0));
  const double mean = std::max(1e-9, sum_of(loss) / static_cast<double>(slices));
  for (double& value : loss) value = 0.01 * value / mean + std::gamma_distribution<>(0.5, 0.02)(draw.random);
  return loss;
}

Scene scene_of(bench::Draw& draw) {
  const auto slices = static_cast<std::size_t>(draw.log_uniform(150.0, 3000.0));
  Scene scene;
  for (int resource = 0; resource < 2; ++resource) scene.losses.push_back(own_loss(draw, slices));
  const int runs = static_cast<int>(draw.uniform(3.0, 20.0));
  for (std::uint32_t run = 0; run < static_cast<std::uint32_t>(runs); ++run)
    for (std::size_t resource = 0; resource < 2; ++resource)
      scene.suspects.push_back({run, resource, any_demand(draw, slices)});
  return scene;
}

// `share`: of the loss by this resource. It comes up to a slice later, and grows less than the demand.
void make_guilty(bench::Draw& draw, Scene& scene, std::size_t suspect, double share) {
  Series& loss = scene.losses[scene.suspects[suspect].resource];
  const Series& demand = scene.suspects[suspect].demand;
  const std::size_t delay = draw.with_probability(0.5) ? 1 : 0;
  const double power = draw.uniform(0.6, 1.0);
  Series effect(loss.size(), 0.0);
  for (std::size_t k = delay; k < loss.size(); ++k)
    effect[k] = std::pow(demand[k - delay], power) * draw.uniform(0.5, 1.5);
  const double sum = sum_of(effect);
  if (!(sum > 0.0)) return;
  const double scale = share / (1.0 - share) * sum_of(loss) / sum;
  for (std::size_t k = 0; k < loss.size(); ++k) loss[k] += scale * effect[k];
  scene.guilty[suspect] = scale * sum;
}

void replace_by_bursts(bench::Draw& draw, Scene& scene, std::size_t suspect) {
  scene.suspects[suspect].demand =
      bursts(draw, scene.losses.front().size(), draw.log_uniform(4.0, 30.0), draw.log_uniform(20.0, 100.0));
}

struct Law {
  std::string_view name;
  std::function<Scene(bench::Draw& draw)> scene;
};

Scene with_culprit(bench::Draw& draw, double share) {
  Scene scene = scene_of(draw);
  replace_by_bursts(draw, scene, 0);
  make_guilty(draw, scene, 0, share);
  return scene;
}

Scene with_two(bench::Draw& draw) {
  Scene scene = scene_of(draw);
  replace_by_bursts(draw, scene, 0);
  replace_by_bursts(draw, scene, 2);
  make_guilty(draw, scene, 0, 0.35);
  make_guilty(draw, scene, 2, 0.35);
  return scene;
}

// The run loses something at each of its own checkpoints; an innocent run has the same period.
Scene of_same_rhythm(bench::Draw& draw) {
  Scene scene = scene_of(draw);
  const std::size_t slices = scene.losses.front().size();
  const double period = draw.log_uniform(15.0, 60.0);
  const double phase = draw.uniform(0.0, period);
  const Series own = checkpoints(draw, slices, period, 0.2 * period, 0.0, phase);
  for (std::size_t k = 0; k < slices; ++k) scene.losses[0][k] += 0.1 * own[k];
  scene.suspects[0].demand = checkpoints(draw, slices, period, 0.2 * period, 0.0,
                                         draw.with_probability(0.5) ? phase : draw.uniform(0.0, period));
  return scene;
}

// Someone starts two runs together again and again; one of them is guilty.
Scene with_companion(bench::Draw& draw) {
  Scene scene = with_culprit(draw, 0.5);
  Series& other = scene.suspects[2].demand;
  other = scene.suspects[0].demand;
  for (double& value : other) value *= draw.uniform(0.7, 1.3);
  return scene;
}

// A job that is not recorded slows this run, and all others: these do less meanwhile, and more afterwards.
Scene of_hidden_cause(bench::Draw& draw) {
  Scene scene = scene_of(draw);
  const std::size_t slices = scene.losses.front().size();
  const Series hidden = bursts(draw, slices, draw.log_uniform(5.0, 40.0), draw.log_uniform(20.0, 150.0));
  const double most = std::max(1e-9, *std::ranges::max_element(hidden));
  for (std::size_t k = 0; k < slices; ++k)
    for (Series& loss : scene.losses) loss[k] += 0.2 * hidden[k] / most;
  for (Suspect& suspect : scene.suspects) {
    double behind = 0.0;
    for (std::size_t k = 0; k < slices; ++k) {
      const double wanted = suspect.demand[k] + behind;
      const double done = std::min(wanted, 1.2 * suspect.demand[k]) * (1.0 - 0.7 * hidden[k] / most);
      behind = std::min(wanted - done, 20.0 * suspect.demand[k]);
      suspect.demand[k] = done;
    }
  }
  return scene;
}

// The run loses more and more, as a season does it; others come later.
Scene with_trend(bench::Draw& draw) {
  Scene scene = scene_of(draw);
  const auto slices = static_cast<double>(scene.losses.front().size());
  const double power = draw.uniform(0.5, 3.0);
  for (Series& loss : scene.losses)
    for (std::size_t k = 0; k < loss.size(); ++k) loss[k] += 0.1 * std::pow(static_cast<double>(k) / slices, power);
  return scene;
}

// The run loses something in one part of its time only, and others are there in one part only.
Scene in_parts(bench::Draw& draw) {
  Scene scene = scene_of(draw);
  for (Series& loss : scene.losses)
    for (std::size_t k = 0; k < loss.size() / 2; ++k) loss[k] *= 0.02;
  for (Suspect& suspect : scene.suspects)
    for (std::size_t k = 0; k < suspect.demand.size() / 2; ++k) suspect.demand[k] *= 0.02;
  return scene;
}

Scene that_wander(bench::Draw& draw) {
  Scene scene = scene_of(draw);
  const std::size_t slices = scene.losses.front().size();
  for (Series& loss : scene.losses) {
    loss = wandering(draw, slices);
    for (double& value : loss) value *= 0.01;
  }
  for (Suspect& suspect : scene.suspects) suspect.demand = wandering(draw, slices);
  return scene;
}

struct Tally {
  int scenes = 0, accused_falsely = 0, guilty = 0, named = 0, named_alone = 0, held = 0;
  Series widths;
};

void add(Tally& tally, const Scene& scene) {
  // The second resource is the hosts: what messages cost may have been theirs, too.
  std::vector<Series> losses = scene.losses;
  std::ranges::transform(losses[1], losses[0], losses[1].begin(), std::plus<>());
  const Accusations told = culprits_of(losses, scene.suspects);
  ++tally.scenes;
  tally.guilty += static_cast<int>(scene.guilty.size());
  bool is_false = false;
  for (const Culprit& culprit : told.culprits) {
    std::set<std::size_t> named(culprit.or_else.begin(), culprit.or_else.end());
    named.insert(culprit.suspect);
    const bool is_right = std::ranges::any_of(named, [&](std::size_t i) { return scene.guilty.contains(i); });
    is_false = is_false || !is_right;
    tally.named += is_right ? 1 : 0;
    if (!scene.guilty.contains(culprit.suspect) || named.size() > 1) continue;
    ++tally.named_alone;
    const double truth = scene.guilty.at(culprit.suspect);
    tally.held += culprit.interval_seconds.low <= truth && truth <= culprit.interval_seconds.high ? 1 : 0;
    tally.widths.push_back((culprit.interval_seconds.high - culprit.interval_seconds.low) / truth);
  }
  tally.accused_falsely += is_false ? 1 : 0;
}

std::string share(int part, int whole) {
  return whole == 0 ? "–" : fmt::format("{:.1f}", 100.0 * part / static_cast<double>(whole));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Whether the runs that are accused of another run's loss are guilty: a Markdown table for docs/who.md");
  int scenes = 400;
  std::uint64_t seed = 1;
  app.add_option("--scenes", scenes, "of each law");
  app.add_option("--seed", seed, "of the first scene");
  std::string only;
  app.add_option("--only", only, "laws whose name has this in it");
  CLI11_PARSE(app, argc, argv);
  const std::vector<Law> laws{
      {"nobody is guilty", scene_of},
      {"nobody; the run and an innocent one have the same fixed rhythm", of_same_rhythm},
      {"nobody; a hidden job slows all of them", of_hidden_cause},
      {"nobody; the loss grows, others come later", with_trend},
      {"nobody; all that happens is in the second half", in_parts},
      {"nobody; loss and demand wander", that_wander},
      {"one explains 10 % of the loss by its resource", [](bench::Draw& draw) { return with_culprit(draw, 0.1); }},
      {"one explains 20 %", [](bench::Draw& draw) { return with_culprit(draw, 0.2); }},
      {"one explains 40 %", [](bench::Draw& draw) { return with_culprit(draw, 0.4); }},
      {"one explains 80 %", [](bench::Draw& draw) { return with_culprit(draw, 0.8); }},
      {"two explain 58 % together", with_two},
      {"one explains half, another one always comes with it", with_companion}};
  fmt::print(
      "| who did it | runs | an innocent run accused, % of the runs | guilty ones named, % | named alone, % | its part "
      "within the interval, % | width of the interval, of the part, median |\n|---|---|---|---|---|---|---|\n");
  for (const Law& law : laws) {
    if (law.name.find(only) == std::string::npos) continue;
    Tally tally;
    for (int i = 0; i < scenes; ++i) {
      bench::Draw draw{std::mt19937_64(seed + static_cast<std::uint64_t>(i))};
      add(tally, law.scene(draw));
    }
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", law.name, tally.scenes,
               share(tally.accused_falsely, tally.scenes), share(tally.named, tally.guilty),
               share(tally.named_alone, tally.guilty), share(tally.held, tally.named_alone),
               tally.widths.empty() ? "–" : fmt::format("{:.2f}", quantile(tally.widths, 0.5)));
  }
}
