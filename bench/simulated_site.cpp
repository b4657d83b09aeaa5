// How well the statistics of a site (analyzer/site/) find slow hosts and changes, on simulated sites whose truth is
// known, as Markdown tables for docs/site.md. Never passes or fails.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>

#include "analyzer/site/changes.hpp"
#include "analyzer/site/nodes.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "bench/draw.hpp"

namespace {

using namespace halcyon;

/// A kind of site.
struct SiteLaw {
  std::string_view name;
  std::size_t works = 200;
  std::size_t hosts = 400;
  double days = 730.0;
  std::size_t largest_run = 16;    // hosts
  double fewest_runs_a_day = 0.1;  // of a work, log-uniform
  double most_runs_a_day = 1.5;

  double slow_hosts = 0.04;
  double least_slowness = 0.02;   // log-uniform up to 1.5 times
  bool has_repairs = false;       // half of the slow hosts become normal again
  bool has_skewed_hosts = false;  // healthy hosts differ by a gamma law in place of a normal one
  double differences = 0.004;     // of healthy hosts

  double changes_of_code = 0.6;        // a work, 1 to 10 %
  double drifting_works = 0.1;         // by 5 to 10 % in two years
  bool has_versions = false;           // labels change with the code, and three times without
  std::size_t changes_of_machine = 3;  // 1 to 5 %
  double sensitivity = 0.0;            // sd of ln of the factor by which a work feels the machine
  std::size_t partitions = 1;          // each work runs in one; changes of the machine strike one
  double season = 0.015;               // amplitude, of a year
  bool has_weather = false;            // in place of a sine: a process of memory of a week, and weekends

  double jitter = 0.008;  // of a run's undisturbed time; works differ by a factor of 3
  bool is_jitter_skewed = false;
  double disturbed = 0.3;      // share of the runs
  double loss = 0.15;          // of those, mean
  bool is_loss_heavy = false;  // lognormal in place of exponential
  double holds = 0.92;         // intervals of disturbed runs
  bool has_host_times = false;
  double disturbed_hosts = 0.0;  // of the hosts: a neighbour makes the intervals of runs there wide, all to one side
};

struct TrueChange {
  double day = 0.0;
  double size = 0.0;  // ln
  std::size_t partition = 0;
};

/// Who disturbs runs on a host for a week, for a month, up to the end, or on one day of each week.
struct Neighbour {
  double lean = 0.0;  // of all these runs, in their own errors
  Interval days;
  bool is_weekly = false;

  bool is_there(double day) const { return is_weekly ? std::fmod(day, 7.0) < 1.0 : day >= days.low && day < days.high; }
};

Neighbour neighbour_of(bench::Draw& draw, double days) {
  Neighbour one{.lean = draw.uniform(1.0, 1.5), .days = {}};
  const double kind = draw.uniform(0.0, 4.0);
  const double length = kind < 1.0 ? 7.0 : kind < 2.0 ? 30.0 : draw.uniform(7.0, 90.0);
  const double begin = kind < 2.0 ? draw.uniform(0.0, days - length) : days - length;
  one.days = {begin, begin + length};
  one.is_weekly = kind >= 3.0;
  return one;
}

struct Site {
  std::vector<SiteRun> runs;
  std::vector<double> raw;                              // (runs) s, as measured
  std::vector<std::function<double(double)>> slowness;  // (hosts) ln, at a day
  std::vector<std::optional<double>> slow_since;        // (hosts) planted
  std::vector<std::optional<Neighbour>> neighbours;     // (hosts)
  std::vector<std::vector<TrueChange>> of_code;         // (works)
  std::vector<TrueChange> of_machine;
  std::vector<std::size_t> partition_of;  // (works)
  std::vector<double> runs_a_day;         // (works)
};

// What is wrong with an estimate of a disturbed run: as often as docs/accuracy.md says, half of the misses gross: a
// part of the loss is taken for need.
double error_of(bench::Draw& draw, const SiteLaw& law, double error, double loss) {
  if (draw.with_probability(0.5 * (1.0 - law.holds))) return draw.uniform(0.2, 1.0) * std::log1p(loss);
  const double usual = 1.0 - 0.5 * (1.0 - law.holds);
  return std::normal_distribution<>(
      0.0, error * normal_quantile_of_interval() / normal_quantile(0.5 + usual / 2.0))(draw.random);
}

Site site_of(const SiteLaw& law, std::uint64_t seed) {
  bench::Draw draw{std::mt19937_64(seed)};
  const auto normal = [&](double deviation) { return std::normal_distribution<>(0.0, deviation)(draw.random); };
  Site site;
  for (std::size_t h = 0; h < law.hosts; ++h) {
    const double usual = law.has_skewed_hosts
                             ? std::gamma_distribution<>(1.0, law.differences)(draw.random) - law.differences
                             : normal(law.differences);
    if (!draw.with_probability(law.slow_hosts)) {
      site.slow_since.emplace_back();
      site.slowness.emplace_back([=](double) { return usual; });
      continue;
    }
    const double slow = std::log1p(draw.log_uniform(law.least_slowness, 0.5));
    const double since = draw.with_probability(0.3) ? -1.0 : draw.uniform(0.1, 0.95) * law.days;
    const bool is_repaired = law.has_repairs && draw.with_probability(0.5);
    const double until = is_repaired ? draw.uniform(std::max(since, 0.0), law.days) : 2.0 * law.days;
    site.slow_since.push_back(is_repaired ? std::nullopt : std::optional(since));
    site.slowness.emplace_back([=](double day) { return day >= since && day < until ? slow : usual; });
  }
  site.neighbours.resize(law.hosts);
  for (std::optional<Neighbour>& one : site.neighbours)
    if (law.disturbed_hosts > 0.0 && draw.with_probability(law.disturbed_hosts)) one = neighbour_of(draw, law.days);
  for (std::size_t k = 0; k < law.changes_of_machine; ++k) {
    const double sign = draw.with_probability(0.7) ? 1.0 : -1.0;
    site.of_machine.push_back({draw.uniform(0.1, 0.9) * law.days, sign * std::log1p(draw.log_uniform(0.01, 0.05)),
                               static_cast<std::size_t>(draw.uniform(0.0, static_cast<double>(law.partitions)))});
  }
  std::vector<double> weather(static_cast<std::size_t>(law.days) + 1, 0.0);
  const double phase = draw.uniform(0.0, 2.0 * std::numbers::pi);
  for (std::size_t d = 0; d < weather.size(); ++d) {
    if (law.has_weather) {
      const double memory = std::exp(-1.0 / 7.0);
      weather[d] =
          (d > 0 ? memory * weather[d - 1] : 0.0) + normal(law.season * std::sqrt(1.0 - memory * memory) / 1.5);
      continue;
    }
    weather[d] = law.season * std::sin(phase + 2.0 * std::numbers::pi * static_cast<double>(d) / 365.25);
  }
  std::vector<bool> is_down(weather.size(), false);
  for (std::size_t d = 0; d < weather.size(); ++d) is_down[d] = draw.with_probability(0.05);
  const auto maintenance = static_cast<std::size_t>(draw.uniform(0.0, law.days - 14.0));
  std::fill_n(is_down.begin() + static_cast<std::ptrdiff_t>(maintenance), 14, true);

  for (std::size_t w = 0; w < law.works; ++w) {
    const double seconds = draw.log_uniform(60.0, 36000.0);
    const double rate = site.runs_a_day.emplace_back(draw.log_uniform(law.fewest_runs_a_day, law.most_runs_a_day));
    const double jitter = law.jitter * draw.log_uniform(1.0 / std::sqrt(3.0), std::sqrt(3.0));
    const double feels = std::exp(normal(law.sensitivity));
    const double drift = draw.with_probability(law.drifting_works) ? draw.uniform(0.05, 0.1) / law.days : 0.0;
    const auto count = static_cast<std::size_t>(
        std::pow(2.0, std::floor(draw.uniform(0.0, std::log2(static_cast<double>(law.largest_run)) + 1.0))));
    const std::size_t partition = site.partition_of.emplace_back(w % law.partitions);
    std::vector<TrueChange>& changes = site.of_code.emplace_back();
    const int changed = std::poisson_distribution<>(law.changes_of_code)(draw.random);
    for (int k = 0; k < changed; ++k) {
      const double sign = draw.with_probability(0.7) ? 1.0 : -1.0;
      changes.push_back({draw.uniform(0.05, 0.95) * law.days, sign * std::log1p(draw.log_uniform(0.01, 0.1)), 0});
    }
    std::vector<double> versions;
    for (const TrueChange& change : changes) versions.push_back(change.day);
    for (int k = 0; k < 3; ++k) versions.push_back(draw.uniform(0.0, law.days));
    for (double day = 0.0; (day += std::exponential_distribution<>(rate)(draw.random)) < law.days;) {
      if (is_down[static_cast<std::size_t>(day)]) continue;
      SiteRun run{.work = static_cast<std::uint32_t>(w), .day = day, .hosts = {}, .log_host_seconds = {}, .label = {}};
      const std::size_t pool = law.hosts / law.partitions;
      while (run.hosts.size() < count) {  // a scheduler gives neighbours where it can
        auto host = static_cast<std::size_t>(draw.uniform(0.0, static_cast<double>(pool)));
        for (std::size_t next = 0; next < 4 && run.hosts.size() < count; ++next, host = (host + 1) % pool) {
          const auto number = static_cast<std::uint32_t>(partition * pool + host);
          if (std::ranges::find(run.hosts, number) == run.hosts.end()) run.hosts.push_back(number);
        }
      }
      double usual = std::log(seconds) + drift * day + weather[static_cast<std::size_t>(day)];
      usual +=
          law.is_jitter_skewed ? std::gamma_distribution<>(2.0, jitter / std::sqrt(2.0))(draw.random) : normal(jitter);
      for (const TrueChange& change : changes) usual += day >= change.day ? change.size : 0.0;
      for (const TrueChange& change : site.of_machine)
        usual += day >= change.day && change.partition == partition ? feels * change.size : 0.0;
      double slowest = -1.0;
      for (const std::uint32_t host : run.hosts) slowest = std::max(slowest, site.slowness[host](day));
      if (law.has_host_times)
        for (const std::uint32_t host : run.hosts)
          run.log_host_seconds.push_back(usual + site.slowness[host](day) + normal(jitter));
      const bool is_weekend = law.has_weather && std::fmod(day, 7.0) >= 5.0;
      double loss = 0.0;
      if (draw.with_probability(is_weekend ? 0.3 * law.disturbed : law.disturbed))
        loss = law.is_loss_heavy ? law.loss * std::lognormal_distribution<>(-0.5, 1.0)(draw.random)
                                 : std::exponential_distribution<>(1.0 / law.loss)(draw.random);
      run.log_error = 0.003 + (loss > 0.0 ? draw.uniform(0.03, 0.15) * loss : 0.0);
      run.log_seconds = usual + slowest + (loss > 0.0 ? error_of(draw, law, run.log_error, loss) : normal(0.002));
      double lean = 0.0;
      for (const std::uint32_t host : run.hosts)
        if (const auto& one = site.neighbours[host]; one && one->is_there(day)) lean = std::max(lean, one->lean);
      if (lean > 0.0) {
        run.log_error *= draw.uniform(2.0, 8.0);
        run.log_seconds += lean * run.log_error;
        loss += 10.0 * run.log_error;  // of which a tenth is not known
      }
      const double raw = std::exp(usual + slowest) * (1.0 + loss);
      run.lost_share = std::max(0.0, 1.0 - std::exp(run.log_seconds) / raw);
      if (law.has_versions)
        run.label = fmt::format("v{}", std::ranges::count_if(versions, [day](double at) { return at <= day; }));
      site.runs.push_back(run);
      site.raw.push_back(raw);
    }
  }
  return site;
}

struct Share {
  std::size_t part = 0;
  std::size_t whole = 0;

  void add(bool is_part) {
    ++whole;
    part += is_part ? 1 : 0;
  }
  std::string text(int decimals = 0) const {
    return whole == 0 ? "–"
                      : fmt::format("{:.{}f} of {}", 100.0 * static_cast<double>(part) / static_cast<double>(whole),
                                    decimals, whole);
  }
};

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

constexpr double slowness_bins[] = {0.02, 0.03, 0.05, 0.1, 0.5001};
constexpr double size_bins[] = {0.01, 0.02, 0.03, 0.05, 0.1001};

template <std::size_t bounds>
std::optional<std::size_t> bin_of(const double (&bins)[bounds], double size) {
  for (std::size_t k = 0; k + 1 < bounds; ++k)
    if (size >= bins[k] && size < bins[k + 1]) return k;
  return std::nullopt;
}

struct NodeTally {
  Share holds_all, holds_slow, holds_listed, false_discoveries, since_holds;
  Share holds_disturbed, disturbed_listed;  // hosts with neighbours; of those that are not slow
  std::array<Share, 4> power;
};

void add(NodeTally& tally, const SiteLaw& law, const Site& site, const NodeRanking& ranking) {
  std::vector<double> effects;
  for (const auto& slowness : site.slowness) effects.push_back(slowness(law.days));
  const double middle = quantile(effects, 0.5);
  for (const HostEffect& host : ranking.hosts) {
    const double truth = 100.0 * std::expm1(effects[host.host] - middle);
    const bool is_held = holds(host.interval_percent, truth);
    tally.holds_all.add(is_held);
    if (host.is_listed) tally.holds_listed.add(is_held);
    if (host.is_listed) tally.false_discoveries.add(truth <= NodeSettings{}.slow_percent);
    const std::optional<double>& since = site.slow_since[host.host];
    if (site.neighbours[host.host]) {
      tally.holds_disturbed.add(is_held);
      if (truth <= NodeSettings{}.slow_percent) tally.disturbed_listed.add(host.is_listed);
    }
    if (!since) continue;
    tally.holds_slow.add(is_held);
    if (const auto bin = bin_of(slowness_bins, truth / 100.0)) tally.power[*bin].add(host.is_listed);
    if (host.is_listed && *since > 0.0) tally.since_holds.add(host.since_days && holds(*host.since_days, *since));
  }
}

constexpr double near_days = 2.0;
constexpr double busy_rate = 1.0;  // runs a day

/// What a method says of a work: code, machine, or unclear where it says no more than that something changed.
struct Told {
  double day = 0.0;
  ChangeOf of = ChangeOf::unclear;
  Interval days;
  std::optional<Interval> percent;
};

struct ChangeTally {
  std::array<Share, 4> found_busy, found_all, code;  // by size; code: of those found, called the code's
  Share size_holds, day_holds;
  Share code_of_machine, machine_found;  // of pairs of a work and a change of its machine
  std::size_t false_alarms = 0;          // nothing changed near
  std::size_t false_code = 0;
  double work_years = 0.0;
};

void add(ChangeTally& tally, const SiteLaw& law, const Site& site, std::size_t work, const std::vector<Told>& told) {
  tally.work_years += law.days / 365.25;
  const auto is_near = [&](const Told& one, const TrueChange& change) {
    return std::abs(one.day - change.day) <= near_days ||
           holds({one.days.low - near_days, one.days.high + near_days}, change.day);
  };
  for (const TrueChange& change : site.of_code[work]) {
    const auto bin = bin_of(size_bins, std::expm1(std::abs(change.size)));
    if (!bin) continue;
    const Told* found = nullptr;
    for (const Told& one : told)
      if (std::abs(one.day - change.day) <= near_days && (found == nullptr || found->of == ChangeOf::machine))
        found = &one;
    tally.found_all[*bin].add(found != nullptr);
    if (site.runs_a_day[work] >= busy_rate) tally.found_busy[*bin].add(found != nullptr);
    if (found == nullptr || found->of == ChangeOf::machine) continue;
    tally.code[*bin].add(found->of == ChangeOf::code);
    tally.day_holds.add(holds(found->days, change.day));
    double size = 0.0;  // two at about that day cannot be told apart
    for (const TrueChange& other : site.of_code[work])
      size += std::abs(other.day - found->day) <= near_days ? other.size : 0.0;
    if (found->percent) tally.size_holds.add(holds(*found->percent, 100.0 * std::expm1(size)));
  }
  for (const TrueChange& change : site.of_machine) {
    if (change.partition != site.partition_of[work]) continue;
    const bool is_alone = std::ranges::none_of(
        site.of_code[work], [&](const TrueChange& other) { return std::abs(other.day - change.day) < 7.0; });
    if (!is_alone) continue;
    tally.code_of_machine.add(
        std::ranges::any_of(told, [&](const Told& one) { return one.of == ChangeOf::code && is_near(one, change); }));
    tally.machine_found.add(std::ranges::any_of(
        told, [&](const Told& one) { return one.of == ChangeOf::machine && is_near(one, change); }));
  }
  for (const Told& one : told) {
    const auto near_one = [&](const TrueChange& change) { return is_near(one, change); };
    const bool is_near_any =
        std::ranges::any_of(site.of_code[work], near_one) || std::ranges::any_of(site.of_machine, near_one);
    tally.false_alarms += is_near_any ? 0 : 1;
    tally.false_code += is_near_any || one.of != ChangeOf::code ? 0 : 1;
  }
}

// Sites of these laws were looked at while the method was made.
std::vector<SiteLaw> tuned_laws() {
  return {{.name = "usual"},
          {.name = "quiet machine, no seasons", .changes_of_machine = 0, .season = 0.0, .disturbed = 0.1},
          {.name = "works feel the machine differently", .sensitivity = 0.3}};
}

// Of other kinds: other distributions, other shapes along the calendar, other ways to use the machine.
std::vector<SiteLaw> held_out_laws() {
  return {{.name = "hosts repaired, skewed differences", .has_repairs = true, .has_skewed_hosts = true},
          {.name = "weather and weekends, skewed jitter", .has_weather = true, .is_jitter_skewed = true},
          {.name = "four partitions, the machine changes in one", .partitions = 4},
          {.name = "heavy losses, 83 % of intervals hold", .disturbed = 0.6, .is_loss_heavy = true, .holds = 0.83},
          {.name = "few runs of many hosts", .largest_run = 64, .fewest_runs_a_day = 0.05, .most_runs_a_day = 0.5},
          {.name = "versions known, works feel differently", .has_versions = true, .sensitivity = 0.5},
          {.name = "times of hosts known", .slow_hosts = 0.1, .has_host_times = true},
          {.name = "hosts disturbed by neighbours", .disturbed_hosts = 0.15}};
}

void write_series(const Site& site, const SiteLaw& law, std::size_t number, std::ofstream& series,
                  std::ofstream& truth) {
  for (std::size_t i = 0; i < site.runs.size(); ++i)
    series << fmt::format("\"{}\",{},{},{:.4f},{:.6g}\n", law.name, number, site.runs[i].work, site.runs[i].day,
                          site.raw[i]);
  for (std::size_t w = 0; w < site.of_code.size(); ++w) {
    for (const TrueChange& change : site.of_code[w])
      truth << fmt::format("\"{}\",{},{},code,{:.4f},{:.6f},{:.4f}\n", law.name, number, w, change.day, change.size,
                           site.runs_a_day[w]);
    for (const TrueChange& change : site.of_machine)
      if (change.partition == site.partition_of[w])
        truth << fmt::format("\"{}\",{},{},machine,{:.4f},{:.6f},{:.4f}\n", law.name, number, w, change.day,
                             change.size, site.runs_a_day[w]);
  }
}

void print_tables(const std::vector<SiteLaw>& laws, std::size_t sites, std::uint64_t seed,
                  const std::string& directory) {
  std::string nodes;
  std::string changes;
  std::ofstream series;
  std::ofstream truth;
  if (!directory.empty()) {
    series.open(directory + "/series.csv", std::ios::app);
    truth.open(directory + "/truth.csv", std::ios::app);
  }
  for (const SiteLaw& law : laws) {
    NodeTally of_nodes;
    ChangeTally of_changes;
    std::size_t runs = 0;
    double seconds_of_nodes = 0.0;
    double seconds_of_changes = 0.0;
    for (std::size_t number = 0; number < sites; ++number) {
      const Site site = site_of(law, seed + number);
      runs += site.runs.size();
      if (!directory.empty()) write_series(site, law, number, series, truth);
      const auto since = [begin = std::chrono::steady_clock::now()]() mutable {
        const auto end = std::chrono::steady_clock::now();
        return std::chrono::duration<double>(end - std::exchange(begin, end)).count();
      };
      auto clock = since;
      const NodeRanking ranking = rank_nodes(site.runs);
      seconds_of_nodes += clock();
      add(of_nodes, law, site, ranking);
      clock();
      const SiteLevels levels = levels_beside_nodes(site.runs, ranking);
      for (std::size_t work = 0; work < law.works; ++work) {
        std::vector<Told> told;
        for (const Change& change : changes_of(static_cast<std::uint32_t>(work), site.runs, ranking, levels).changes)
          told.push_back({change.day, change.of, change.day_interval, change.interval_percent});
        add(of_changes, law, site, work, told);
      }
      seconds_of_changes += clock();
    }
    const NodeTally& n = of_nodes;
    const std::string of_nodes_row = fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0f} |\n", law.name, runs / sites,
        n.holds_all.text(), n.holds_slow.text(), n.holds_listed.text(), n.false_discoveries.text(1), n.power[0].text(),
        n.power[1].text(), n.power[2].text(), n.power[3].text(), n.since_holds.text(), n.holds_disturbed.text(),
        n.disturbed_listed.text(), seconds_of_nodes / static_cast<double>(sites));
    const ChangeTally& c = of_changes;
    const auto four = [](const std::array<Share, 4>& shares) {
      return fmt::format("{} | {} | {} | {}", shares[0].text(), shares[1].text(), shares[2].text(), shares[3].text());
    };
    Share code;
    for (const Share& one : c.code) code = {code.part + one.part, code.whole + one.whole};
    const std::string of_changes_row = fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} | {:.2f} | {:.0f} |\n", law.name, four(c.found_busy),
        four(c.found_all), code.text(), c.size_holds.text(), c.day_holds.text(), c.code_of_machine.text(1),
        c.machine_found.text(), static_cast<double>(c.false_code) / c.work_years,
        static_cast<double>(c.false_alarms) / c.work_years, seconds_of_changes / static_cast<double>(sites));
    nodes += of_nodes_row;
    changes += of_changes_row;
    fmt::print(stderr, "{}{}", of_nodes_row, of_changes_row);
  }
  fmt::print(
      "| site | runs | interval holds %, all hosts | slow ones | listed | false in the list % | found %, 2–3 % slow | "
      "3–5 % | 5–10 % | 10–50 % | \"since\" holds % | interval holds %, with neighbours | healthy ones of these listed "
      "% | s "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n{}\n"
      "| site | found within two days %, a run a day or more: 1–2 % | 2–3 % | 3–5 % | 5–10 % | all works: 1–2 % | 2–3 "
      "% | "
      "3–5 % | 5–10 % | called the code's % | size holds % | day holds % | \"code\" of a change of the machine % | its "
      "change told % | false \"code\" a work and year | all false | s |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n{}\n",
      nodes, changes);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The statistics of a site on simulated sites: Markdown tables for docs/site.md");
  std::size_t sites = 3;
  std::uint64_t seed = 1;
  bool is_tuning = false;
  std::string directory;
  std::string only;
  app.add_option("--sites", sites, "sites of each law");
  app.add_option("--seed", seed, "of the first site");
  app.add_flag("--tuning", is_tuning, "the laws that were looked at while the method was made, in place of the others");
  app.add_option("--series", directory, "also write measured times and the truth there, for bench/otava_on_sites.py");
  app.add_option("--only", only, "laws whose names contain this");
  CLI11_PARSE(app, argc, argv);
  std::vector<SiteLaw> laws = is_tuning ? tuned_laws() : held_out_laws();
  std::erase_if(laws, [&](const SiteLaw& law) { return law.name.find(only) == std::string_view::npos; });
  print_tables(laws, sites, seed, directory);
}
