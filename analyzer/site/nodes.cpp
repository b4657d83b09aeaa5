#include "analyzer/site/nodes.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "analyzer/site/site_levels.hpp"
#include "analyzer/statistics/levels.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "analyzer/statistics/running_moments.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

// Of hosts of which nothing is known: each counts as one host that was seen.
constexpr double usual_slowness = 0.1;        // ln, of a slow one
constexpr double usual_difference = 0.005;    // ln, of those that are not
constexpr double least_chance = 0.5;          // of a listed one: many sure ones make none of which it is not likely
constexpr int rounds = 4;                     // Numerics: levels of works are found anew in each one
constexpr int sweeps_of_a_round = 10;         // Numerics
constexpr int kept_sweeps = 100;              // Numerics: the error of a quantile is a tenth of the interval
constexpr std::size_t visits_at_once = 8;     // Numerics: a host's course changes between so many runs, at first
constexpr double finest_step = 0.003;         // Numerics: of the grid of levels, near 0
constexpr double growth_of_steps = 0.05;      // Numerics: farther up, steps are this share of the level
constexpr std::size_t runs_of_a_middle = 25;  // Numerics: the middle host is found anew after so many
constexpr double fastest_level = -0.05;       // Numerics: the grid begins here, or where a host is faster
constexpr double lean_step = 0.5;             // Numerics: of the grid of leans
constexpr double most_lean = 1.5;             // Numerics: the grid ends here
constexpr int slices = 3;                     // Numerics: draws of a level after its place on the grid
constexpr float most_square = static_cast<float>(most_distance * most_distance);

using Levels = Eigen::ArrayXf;

/// A run on a host.
struct Visit {
  std::uint32_t run = 0;   // in the order of the calendar
  std::uint32_t slot = 0;  // of the host in the run
};

/// What a host stays at until it changes: how much slower it is, and how far the estimates of unsure runs there are
/// wrong, all to one side: by so many times `Site::unsure`.
struct Level {
  double slowness = 0.0;
  double lean = 0.0;
};

/// What a run tells of a host, given all others: `left` is the larger one of the host's slowness and of the others',
/// and the larger lean.
struct Seen {
  double day = 0.0;
  double left = 0.0;
  Level others;
  double weight = 1.0;  // 1 / standard deviation
  double unsure = 0.0;

  // Called most of the time: as `cost_of_distance`, without a division.
  double cost(const Level& level) const {
    const double expected = std::max(level.slowness, others.slowness) + unsure * std::max(level.lean, others.lean);
    const double distance = std::min(most_distance, std::abs(left - expected) * weight);
    return 0.5 * distance * distance;
  }
};

constexpr double lowest = -std::numeric_limits<double>::infinity();
constexpr Level no_others{lowest, lowest};

/// A run, and what is believed of it at the moment.
struct Site {
  std::uint32_t place = 0;  // in the caller's runs
  double day = 0.0;
  bool has_host_times = false;
  double base = 0.0;  // what it would take if no host were slow
  double deviation = 1.0;
  double unsure = 0.0;         // its error beyond that of usual runs of the work
  std::vector<double> values;  // one, or one a host
  std::vector<Level> hosts;    // at that time

  Level highest_without(std::size_t slot) const {
    Level highest = no_others;
    for (std::size_t other = 0; other < hosts.size(); ++other) {
      if (other == slot) continue;
      highest.slowness = std::max(highest.slowness, hosts[other].slowness);
      highest.lean = std::max(highest.lean, hosts[other].lean);
    }
    return highest;
  }
  double slowest() const { return highest_without(hosts.size()).slowness; }
  /// What its hosts add, to its time and to its error.
  double added() const {
    const Level highest = highest_without(hosts.size());
    return highest.slowness + unsure * highest.lean;
  }
};

// Of n draws, the r-th smallest and the r-th largest hold one more with the chance (n + 1 - 2 r) / (n + 1).
Interval interval_of_draws(const std::vector<double>& draws) {
  const auto n = static_cast<double>(draws.size());
  const double r = std::max(1.0, 0.5 * (1.0 - interval_confidence) * (n + 1.0));
  const double share = n > 1.0 ? (r - 1.0) / (n - 1.0) : 0.0;
  return {quantile(draws, share), quantile(draws, 1.0 - share)};
}

/// Of the levels that hosts have.
struct LevelLaw {
  double slow_share = 0.05;  // to begin with, like the others
  double fast_share = 0.05;
  double slowness = usual_slowness;
  double difference = usual_difference;
  double changes_a_day = 0.0;

  double of_usual(double level) const {
    const double z = level / difference;
    return (1.0 - slow_share - fast_share) * std::exp(-0.5 * z * z) / (difference * std::sqrt(2.0 * std::numbers::pi));
  }
  double of_slow(double level) const { return level > 0.0 ? slow_share * std::exp(-level / slowness) / slowness : 0.0; }
  double of_fast(double level) const { return level < 0.0 ? fast_share * std::exp(level / slowness) / slowness : 0.0; }
  double density(double level) const { return of_usual(level) + of_slow(level) + of_fast(level); }
};

// Of values that are not far out.
struct Sums {
  double values = 0.0;
  double weights = 0.0;

  void add(double value, double deviation) {
    values += value / (deviation * deviation);
    weights += 1.0 / (deviation * deviation);
  }
};

/// What several runs have in common, each value with a number.
struct Shared {
  std::vector<std::size_t> numbers;  // (sites)
  std::vector<double> values;        // (numbers)

  double of(std::size_t site) const { return values[numbers[site]]; }
};

class Sampler {
 public:
  Sampler(std::span<const SiteRun> runs, const NodeSettings& settings);
  NodeRanking sample();

 private:
  void make_grid();
  void find_levels();
  void sweep();
  void draw_host(std::size_t host);
  Seen seen(const Visit& visit) const;
  std::vector<std::uint32_t> draw_course(std::span<const Seen> seen);
  std::size_t draw_place(std::span<const Seen> seen, const Level& before, const Level& after);
  Level draw_level(std::span<const Seen> seen, std::size_t on_grid);
  template <class Chance>
  void draw_by_slices(double& value, double& chance, double width, Chance chance_of);
  void draw_bases_of_runs();
  void draw_bases_of_works();
  void draw_values(Shared& drawn, const Shared& given);
  void draw_ends_of_levels(std::span<const std::size_t> runs);
  double drawn_mean(const Sums& sums, double otherwise);
  void draw_law();
  double keep_slowed();
  void keep();
  void keep_course(std::size_t host, double middle);
  double day_of_course(std::size_t point) const;
  NodeRanking result();

  double uniform() { return std::uniform_real_distribution<>(0.0, 1.0)(random_); }
  double normal() { return std::normal_distribution<>()(random_); }
  double gamma(double shape) { return std::gamma_distribution<>(shape, 1.0)(random_); }
  double slowness(const Visit& visit) const { return sites_[visit.run].hosts[visit.slot].slowness; }
  Level on_grid(std::size_t state) const { return {grid_[state % grid_.size()], leans_[state / grid_.size()]}; }

  std::span<const SiteRun> runs_;
  NodeSettings settings_;
  std::mt19937_64 random_{1};  // the same answer each time
  std::vector<Site> sites_;
  std::vector<std::vector<Visit>> visits_;               // (hosts), along the calendar
  std::vector<std::vector<std::size_t>> runs_of_works_;  // (works) of which only the run's time is known
  Shared levels_;                                        // of stretches of works
  Shared common_;                                        // of bins of the calendar
  LevelLaw law_;
  std::vector<double> grid_;
  std::vector<double> leans_;
  Levels grid_values_;
  Levels shares_;                     // (states) of the law
  std::vector<double> drawn_levels_;  // of all hosts, of this sweep
  std::size_t drawn_changes_ = 0;
  int sweeps_ = 0;
  double host_days_ = 0.0;
  Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic> forward_;

  std::vector<RunningMoments> slowed_;                     // (sites)
  std::vector<std::vector<double>> last_effects_;          // (hosts, kept sweeps)
  std::vector<std::vector<std::vector<double>>> courses_;  // (hosts, points, kept sweeps)
  std::vector<std::vector<double>>
      slow_since_;  // (hosts, kept sweeps in which it is slow at the end); -inf: from its first run on
};

Sampler::Sampler(std::span<const SiteRun> runs, const NodeSettings& settings) : runs_(runs), settings_(settings) {
  std::size_t works = 0;
  for (const SiteRun& run : runs) works = std::max(works, run.work + std::size_t{1});
  std::vector<std::vector<double>> errors(works);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_usable(runs[i])) continue;
    Site& site = sites_.emplace_back();
    site.place = static_cast<std::uint32_t>(i);
    site.day = runs[i].day;
    site.has_host_times = runs[i].log_host_seconds.size() > 1;  // of one host, nothing else of the run tells
    site.values = site.has_host_times ? runs[i].log_host_seconds : std::vector<double>{runs[i].log_seconds};
    site.hosts.resize(runs[i].hosts.size());
    if (!site.has_host_times) errors[runs[i].work].push_back(runs[i].log_error);
  }
  for (std::vector<double>& of_work : errors)
    if (!of_work.empty()) std::ranges::fill(of_work, median_in_place(of_work));
  for (Site& site : sites_) {
    const SiteRun& run = runs[site.place];
    if (site.has_host_times || run.log_error <= errors[run.work].front()) continue;
    site.unsure = std::sqrt(run.log_error * run.log_error - errors[run.work].front() * errors[run.work].front());
  }
  std::ranges::stable_sort(sites_, {}, &Site::day);
  for (std::size_t r = 0; r < sites_.size(); ++r) {
    const std::vector<std::uint32_t>& hosts = runs[sites_[r].place].hosts;
    for (std::size_t slot = 0; slot < hosts.size(); ++slot) {
      if (visits_.size() <= hosts[slot]) visits_.resize(hosts[slot] + std::size_t{1});
      visits_[hosts[slot]].push_back({static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(slot)});
    }
  }
  for (const std::vector<Visit>& visits : visits_)
    if (!visits.empty()) host_days_ += sites_[visits.back().run].day - sites_[visits.front().run].day;
  law_.changes_a_day = host_days_ > 0.0 ? 1.0 / host_days_ : 0.0;
  slowed_.resize(sites_.size());
  last_effects_.resize(visits_.size());
  slow_since_.resize(visits_.size());
  courses_.assign(visits_.size(), std::vector<std::vector<double>>(settings_.points_of_course));
}

// Up to the run that is furthest above its level, and down to the host that is, for some runs.
void Sampler::make_grid() {
  double fastest = fastest_level;
  for (const std::vector<Visit>& visits : visits_) {
    for (std::size_t begin = 0; begin + visits_at_once <= visits.size(); begin += visits_at_once) {
      std::vector<double> below;
      for (const Visit& visit : std::span(visits).subspan(begin, visits_at_once)) {
        const Site& site = sites_[visit.run];
        below.push_back(site.values[site.has_host_times ? visit.slot : 0] - site.base);
      }
      fastest = std::min(fastest, median_in_place(below));
    }
  }
  double slowest = std::numbers::ln2;
  for (const Site& site : sites_) slowest = std::max(slowest, std::ranges::max(site.values) - site.base);
  for (double level = 0.0; level > fastest;) grid_.push_back(level -= finest_step - growth_of_steps * level);
  std::ranges::reverse(grid_);
  grid_.push_back(0.0);
  while (grid_.back() <= slowest) grid_.push_back(grid_.back() + finest_step + growth_of_steps * grid_.back());
  for (double lean = -most_lean; lean <= most_lean; lean += lean_step) leans_.push_back(lean);
  grid_values_ = Eigen::Map<const Eigen::ArrayXd>(grid_.data(), static_cast<Eigen::Index>(grid_.size())).cast<float>();
}

// What would be left of a run if its slowest host were as the middle one is divided into levels of works, and time.
void Sampler::find_levels() {
  std::vector<double> values(runs_.size(), 0.0);
  std::vector<double> errors(runs_.size(), 0.0);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    values[i] = runs_[i].log_seconds;
    errors[i] = runs_[i].log_error;
  }
  for (const Site& site : sites_) values[site.place] -= site.added();
  const SiteLevels levels = site_levels(runs_, values, errors);
  std::vector<std::vector<double>> beside(levels.scatter.size());  // of works: differences between hosts
  for (Site& site : sites_) {
    if (!site.has_host_times) continue;
    for (std::size_t slot = 0; slot < site.values.size(); ++slot)
      beside[runs_[site.place].work].push_back(std::abs(site.values[slot] - site.hosts[slot].slowness - site.base));
  }
  levels_ = {.numbers = std::vector<std::size_t>(sites_.size()), .values = std::vector<double>(levels.stretches)};
  common_ = {.numbers = std::vector<std::size_t>(sites_.size()), .values = std::vector<double>(levels.bins)};
  runs_of_works_.assign(levels.scatter.size(), {});
  for (std::size_t r = 0; r < sites_.size(); ++r) {
    Site& site = sites_[r];
    levels_.numbers[r] = levels.stretch[site.place];
    levels_.values[levels_.numbers[r]] = levels.level[site.place];
    common_.numbers[r] = levels.bin[site.place];
    common_.values[common_.numbers[r]] = levels.common[site.place];
    if (site.has_host_times) continue;
    runs_of_works_[runs_[site.place].work].push_back(r);
    site.base = levels_.of(r) + common_.of(r);
    site.deviation = levels.deviation[site.place];
  }
  std::vector<double> middle(beside.size(), 0.0);
  for (std::size_t work = 0; work < beside.size(); ++work)
    if (!beside[work].empty()) middle[work] = quantile(beside[work], 0.5) / 0.6745;
  for (Site& site : sites_)
    if (site.has_host_times) site.deviation = std::max(middle[runs_[site.place].work], least_noise);
}

Seen Sampler::seen(const Visit& visit) const {
  const Site& site = sites_[visit.run];
  if (site.has_host_times) {
    return {.day = site.day,
            .left = site.values[visit.slot] - site.base,
            .others = no_others,
            .weight = 1.0 / site.deviation};
  }
  return {.day = site.day,
          .left = site.values[0] - site.base,
          .others = site.highest_without(visit.slot),
          .weight = 1.0 / site.deviation,
          .unsure = site.unsure};
}

// Forward sums and backward draws: the place on the grid in each of the parts that `visits_at_once` make.
std::vector<std::uint32_t> Sampler::draw_course(std::span<const Seen> seen) {
  const auto levels = static_cast<Eigen::Index>(grid_.size());
  const Eigen::Index states = shares_.size();
  const std::size_t parts = (seen.size() + visits_at_once - 1) / visits_at_once;
  const auto count = static_cast<Eigen::Index>(parts);
  if (forward_.cols() < count) forward_.resize(states, count);
  std::vector<double> stays(parts, 1.0);
  Levels chances = shares_;
  Levels squares(states);
  Levels of_sure(levels);
  Levels expected(levels);
  for (std::size_t k = 0; k < parts; ++k) {
    const std::size_t begin = k * visits_at_once;
    if (k > 0) {
      stays[k] = std::exp(-law_.changes_a_day * (seen[begin].day - seen[begin - visits_at_once].day));
      const auto stay = static_cast<float>(stays[k]);
      chances = stay * chances + (1.0F - stay) * shares_;
    }
    squares.setZero();
    of_sure.setZero();
    for (std::size_t i = begin; i < std::min(begin + visits_at_once, seen.size()); ++i) {
      const Seen& one = seen[i];
      const auto weight = static_cast<float>(one.weight);
      expected = grid_values_.max(static_cast<float>(one.others.slowness));
      if (one.unsure == 0.0) {  // of any lean the same
        of_sure += ((static_cast<float>(one.left) - expected) * weight).square().min(most_square);
        continue;
      }
      for (std::size_t lean = 0; lean < leans_.size(); ++lean) {
        const auto left = static_cast<float>(one.left - one.unsure * std::max(leans_[lean], one.others.lean));
        squares.segment(static_cast<Eigen::Index>(lean) * levels, levels) +=
            ((left - expected) * weight).square().min(most_square);
      }
    }
    for (Eigen::Index lean = 0; lean < states; lean += levels) squares.segment(lean, levels) += of_sure;
    chances *= (-0.5F * (squares - squares.minCoeff())).exp();
    chances /= chances.sum();
    forward_.col(static_cast<Eigen::Index>(k)) = chances;
  }
  const auto drawn_from = [&](Eigen::Index k) {
    double left = uniform();
    Eigen::Index j = 0;
    while (j + 1 < states && (left -= static_cast<double>(forward_(j, k))) > 0.0) ++j;
    return static_cast<std::uint32_t>(j);
  };
  std::vector<std::uint32_t> course(parts);
  course.back() = drawn_from(count - 1);
  for (std::size_t k = parts - 1; k > 0; --k) {
    const std::uint32_t now = course[k];
    const auto before = static_cast<Eigen::Index>(k) - 1;
    const double stayed = stays[k] * static_cast<double>(forward_(now, before));
    const double changed = (1.0 - stays[k]) * static_cast<double>(shares_[now]);
    course[k - 1] = uniform() * (stayed + changed) < stayed ? now : drawn_from(before);
  }
  return course;
}

// Where the course goes from one level to another: the first of the visits with the second level.
std::size_t Sampler::draw_place(std::span<const Seen> seen, const Level& before, const Level& after) {
  std::vector<double> costs{0.0};
  for (const Seen& one : seen) costs.push_back(costs.back() + one.cost(before) - one.cost(after));
  const double least = *std::ranges::min_element(costs);
  for (double& cost : costs) cost = std::exp(least - cost);
  return static_cast<std::size_t>(std::discrete_distribution<int>(costs.begin(), costs.end())(random_));
}

// From the chance of a value on, its logarithm: by slices under its density (R. M. Neal, "Slice sampling", Ann. Stat.
// 31, 2003).
template <class Chance>
void Sampler::draw_by_slices(double& value, double& chance, double width, Chance chance_of) {
  const double least = chance - std::exponential_distribution<>()(random_);
  double low = value - uniform() * width;
  double high = low + width;
  while (chance_of(low) > least) low -= width;
  while (chance_of(high) > least) high += width;
  double next = value;
  do {
    next = std::lerp(low, high, uniform());
    chance = chance_of(next);
    (next < value ? low : high) = next;
  } while (chance <= least);
  value = next;
}

// The level of a stretch, from its place on the grid on.
Level Sampler::draw_level(std::span<const Seen> seen, std::size_t state) {
  const auto chance_of = [&](const Level& level) {
    double chance = std::log(std::max(law_.density(level.slowness), std::numeric_limits<double>::min())) -
                    0.5 * level.lean * level.lean;
    for (const Seen& one : seen) chance -= one.cost(level);
    return chance;
  };
  const std::size_t place = state % grid_.size();
  const double width = grid_[std::min(place + 1, grid_.size() - 1)] - grid_[place > 0 ? place - 1 : 0];
  Level level = on_grid(state);
  double chance = chance_of(level);
  const bool is_sure = std::ranges::all_of(seen, [](const Seen& one) { return one.unsure == 0.0; });
  for (int slice = 0; slice < slices; ++slice) {
    draw_by_slices(level.slowness, chance, width, [&](double value) { return chance_of({value, level.lean}); });
    if (is_sure) continue;
    draw_by_slices(level.lean, chance, lean_step, [&](double value) { return chance_of({level.slowness, value}); });
  }
  if (is_sure) level.lean = normal();
  return level;
}

void Sampler::draw_host(std::size_t host) {
  const std::vector<Visit>& visits = visits_[host];
  if (visits.empty()) return;
  std::vector<Seen> all;
  for (const Visit& visit : visits) all.push_back(seen(visit));
  const std::vector<std::uint32_t> course = draw_course(all);
  std::size_t begin = 0;
  for (std::size_t part = 0; part < course.size();) {
    std::size_t next = part + 1;
    while (next < course.size() && course[next] == course[part]) ++next;
    std::size_t end = std::min(next * visits_at_once, visits.size());
    if (next < course.size()) {  // the visits of the parts on both sides
      ++drawn_changes_;
      const std::size_t from = std::max(begin + 1, end - visits_at_once);
      const std::size_t to = std::min(end + visits_at_once, visits.size());
      end = from + draw_place(std::span(all).subspan(from, to - from), on_grid(course[part]), on_grid(course[next]));
      if (end == visits.size()) --end;
    }
    const Level level = draw_level(std::span(all).subspan(begin, end - begin), course[part]);
    drawn_levels_.push_back(level.slowness);
    for (std::size_t k = begin; k < end; ++k) sites_[visits[k].run].hosts[visits[k].slot] = level;
    begin = end;
    part = next;
  }
}

double Sampler::drawn_mean(const Sums& sums, double otherwise) {
  return sums.weights > 0.0 ? sums.values / sums.weights + normal() / std::sqrt(sums.weights) : otherwise;
}

// Of runs whose hosts' times are known.
void Sampler::draw_bases_of_runs() {
  for (Site& site : sites_) {
    if (!site.has_host_times) continue;
    std::vector<double> left;
    for (std::size_t slot = 0; slot < site.values.size(); ++slot)
      left.push_back(site.values[slot] - site.hosts[slot].slowness);
    const double middle = quantile(left, 0.5);
    Sums sums;
    for (const double value : left)
      if (std::abs(value - middle) <= most_distance * site.deviation) sums.add(value, site.deviation);
    site.base = drawn_mean(sums, middle + normal() * site.deviation);
  }
}

// What works need, given what they have in common, or the other way round.
void Sampler::draw_values(Shared& drawn, const Shared& given) {
  std::vector<Sums> sums(drawn.values.size());
  for (std::size_t r = 0; r < sites_.size(); ++r) {
    const Site& site = sites_[r];
    const double left = site.values[0] - site.added() - given.of(r);
    if (!site.has_host_times && std::abs(left - drawn.of(r)) <= most_distance * site.deviation)
      sums[drawn.numbers[r]].add(left, site.deviation);
  }
  for (std::size_t k = 0; k < sums.size(); ++k) drawn.values[k] = drawn_mean(sums[k], drawn.values[k]);
}

void Sampler::draw_bases_of_works() {
  for (const std::vector<std::size_t>& runs : runs_of_works_) draw_ends_of_levels(runs);
  draw_values(levels_, common_);
  draw_values(common_, levels_);
  for (std::size_t r = 0; r < sites_.size(); ++r)
    if (!sites_[r].has_host_times) sites_[r].base = levels_.of(r) + common_.of(r);
}

// Where one level of a work ends and another one begins.
void Sampler::draw_ends_of_levels(std::span<const std::size_t> runs) {
  for (std::size_t begin = 0, end = 0, next = 0; begin < runs.size(); begin = end) {
    const auto end_of_level = [&](std::size_t from) {
      std::size_t to = from;
      while (to < runs.size() && levels_.numbers[runs[to]] == levels_.numbers[runs[from]]) ++to;
      return to;
    };
    end = end_of_level(begin);
    if (end == runs.size()) break;
    next = end_of_level(end);
    std::vector<Seen> seen;  // the first and the last one stay where they are
    for (const std::size_t r : runs.subspan(begin + 1, next - begin - 2)) {
      const Site& site = sites_[r];
      seen.push_back({.day = site.day,
                      .left = site.values[0] - site.added() - common_.of(r),
                      .others = no_others,
                      .weight = 1.0 / site.deviation});
    }
    const std::size_t first = levels_.numbers[runs[begin]];
    const std::size_t second = levels_.numbers[runs[end]];
    end = begin + 1 + draw_place(seen, {levels_.values[first]}, {levels_.values[second]});
    for (std::size_t k = begin; k < next; ++k) levels_.numbers[runs[k]] = k < end ? first : second;
  }
}

// The parameters, given the levels of all hosts and which of them are slow.
void Sampler::draw_law() {
  double usual = 1.0;
  double slow = 1.0;
  double fast = 1.0;
  double squares = usual_difference * usual_difference;
  double sum = usual_slowness;
  for (const double level : drawn_levels_) {
    const double of_unusual = level > 0.0 ? law_.of_slow(level) : law_.of_fast(level);
    if (uniform() * (of_unusual + law_.of_usual(level)) < of_unusual) {
      (level > 0.0 ? slow : fast) += 1.0;
      sum += std::abs(level);
    } else {
      usual += 1.0;
      squares += level * level;
    }
  }
  const double for_slow = gamma(slow);
  const double for_fast = gamma(fast);
  const double for_all = for_slow + for_fast + gamma(usual);
  law_.slow_share = for_slow / for_all;
  law_.fast_share = for_fast / for_all;
  law_.slowness = sum / gamma(slow + fast);
  law_.difference = std::sqrt(0.5 * squares / gamma(0.5 * usual + 1.0));
  law_.changes_a_day = host_days_ > 0.0 ? gamma(static_cast<double>(drawn_changes_) + 1.0) / host_days_ : 0.0;
}

void Sampler::sweep() {
  settings_.progress(static_cast<double>(sweeps_++) / (rounds * sweeps_of_a_round + kept_sweeps));
  const auto levels = static_cast<Eigen::Index>(grid_.size());
  shares_.resize(levels * static_cast<Eigen::Index>(leans_.size()));
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    const double below = grid_[j > 0 ? j - 1 : 0];
    const double above = grid_[std::min(j + 1, grid_.size() - 1)];
    // In the middle of a cell at 0, exponential laws have half of their values.
    const double middle = 0.5 * (law_.density(0.5 * (below + grid_[j])) + law_.density(0.5 * (above + grid_[j])));
    shares_[static_cast<Eigen::Index>(j)] = static_cast<float>(0.5 * (above - below) * middle);
  }
  for (std::size_t k = leans_.size(); k-- > 0;)
    shares_.segment(static_cast<Eigen::Index>(k) * levels, levels) =
        shares_.head(levels) * static_cast<float>(std::exp(-0.5 * leans_[k] * leans_[k]));
  shares_ = shares_.max(std::numeric_limits<float>::min());
  shares_ /= shares_.sum();
  drawn_levels_.clear();
  drawn_changes_ = 0;
  for (std::size_t host = 0; host < visits_.size(); ++host) draw_host(host);
  draw_bases_of_runs();
  draw_bases_of_works();
  draw_law();
}

// Beside the middle host of that time: what all hosts have in common may as well be that of all works. The answer is
// that of the end.
double Sampler::keep_slowed() {
  std::vector<double> now(visits_.size(), 0.0);  // (hosts)
  for (std::size_t host = 0; host < visits_.size(); ++host)
    if (!visits_[host].empty()) now[host] = slowness(visits_[host].front());
  double middle = 0.0;
  for (std::size_t r = 0; r < sites_.size(); ++r) {
    const Site& site = sites_[r];
    const std::vector<std::uint32_t>& hosts = runs_[site.place].hosts;
    for (std::size_t slot = 0; slot < hosts.size(); ++slot) now[hosts[slot]] = site.hosts[slot].slowness;
    const bool is_last = r + 1 == sites_.size();
    if (r % runs_of_a_middle == 0 || is_last) {
      std::vector<double> some;
      for (std::size_t host = 0; host < visits_.size(); ++host)
        if (!visits_[host].empty()) some.push_back(now[host]);
      const auto lower = some.begin() + (std::ssize(some) - 1) / 2;  // of two, the faster one
      std::ranges::nth_element(some, lower);
      middle = *lower;
    }
    slowed_[r].add(site.slowest() - middle);
  }
  return middle;
}

void Sampler::keep() {
  const double middle = keep_slowed();
  const double slow = middle + std::log1p(settings_.slow_percent / 100.0);
  for (std::size_t host = 0; host < visits_.size(); ++host) {
    const std::vector<Visit>& visits = visits_[host];
    if (visits.empty()) continue;
    last_effects_[host].push_back(slowness(visits.back()) - middle);
    keep_course(host, middle);
    if (slowness(visits.back()) <= slow) continue;
    std::size_t first = visits.size() - 1;
    while (first > 0 && slowness(visits[first - 1]) > slow) --first;
    // It changed at any moment between two of its runs.
    slow_since_[host].push_back(
        first == 0 ? -std::numeric_limits<double>::infinity()
                   : std::lerp(sites_[visits[first - 1].run].day, sites_[visits[first].run].day, uniform()));
  }
}

double Sampler::day_of_course(std::size_t point) const {
  return std::lerp(sites_.front().day, sites_.back().day,
                   static_cast<double>(point + 1) / static_cast<double>(settings_.points_of_course));
}

// Between two of its runs it is what it was.
void Sampler::keep_course(std::size_t host, double middle) {
  const std::vector<Visit>& visits = visits_[host];
  const auto day = [&](std::size_t visit) { return sites_[visits[visit].run].day; };
  std::size_t at = 0;
  for (std::size_t point = 0; point < settings_.points_of_course; ++point) {
    const bool has_ended = at + 1 == visits.size() && point > 0 && day(at) <= day_of_course(point - 1);
    if (has_ended) break;
    while (at + 1 < visits.size() && day(at + 1) <= day_of_course(point)) ++at;
    if (day(at) <= day_of_course(point)) courses_[host][point].push_back(slowness(visits[at]) - middle);
  }
}

NodeRanking Sampler::result() {
  NodeRanking ranking;
  ranking.left_out = runs_.size() - sites_.size();
  ranking.slowed.assign(runs_.size(), 0.0);
  ranking.slowed_error.assign(runs_.size(), 0.0);
  for (std::size_t r = 0; r < sites_.size(); ++r) {
    ranking.slowed[sites_[r].place] = slowed_[r].mean();
    ranking.slowed_error[sites_[r].place] = slowed_[r].deviation();
  }
  const auto percent = [](double effect) { return 100.0 * std::expm1(effect); };
  for (std::size_t host = 0; host < visits_.size(); ++host) {
    const std::vector<double>& effects = last_effects_[host];
    if (effects.empty()) continue;
    HostEffect& one = ranking.hosts.emplace_back();
    one.host = static_cast<std::uint32_t>(host);
    one.runs = visits_[host].size();
    one.percent = percent(quantile(effects, 0.5));
    const Interval interval = interval_of_draws(effects);
    one.interval_percent = {percent(interval.low), percent(interval.high)};
    for (std::size_t point = 0; point < settings_.points_of_course; ++point) {
      const std::vector<double>& draws = courses_[host][point];
      if (draws.empty()) continue;
      const Interval at = interval_of_draws(draws);
      one.course.push_back({.day = day_of_course(point),
                            .percent = percent(quantile(draws, 0.5)),
                            .interval_percent = {percent(at.low), percent(at.high)}});
    }
    one.chance_slow = static_cast<double>(slow_since_[host].size()) / static_cast<double>(effects.size());
  }
  std::ranges::sort(ranking.hosts, [](const HostEffect& a, const HostEffect& b) {
    return std::pair(a.chance_slow, a.percent) > std::pair(b.chance_slow, b.percent);
  });
  double expected_false = 0.0;
  double listed = 0.0;
  for (HostEffect& one : ranking.hosts) {
    expected_false += 1.0 - one.chance_slow;
    listed += 1.0;
    if (expected_false > settings_.most_false_discoveries * listed || one.chance_slow < least_chance) break;
    one.is_listed = true;
    std::vector<double>& since = slow_since_[one.host];
    if (std::ranges::count_if(since, [](double day) { return std::isfinite(day); }) * 2 < std::ssize(since)) continue;
    const double first = sites_[visits_[one.host].front().run].day;
    for (double& day : since) day = std::max(day, first);
    one.since_days = interval_of_draws(since);
  }
  return ranking;
}

NodeRanking Sampler::sample() {
  if (sites_.empty()) return result();
  for (Site& site : sites_)
    if (site.has_host_times) site.base = quantile(site.values, 0.5);
  for (int round = 0; round < rounds; ++round) {
    find_levels();
    if (round == 0) make_grid();
    for (int i = 0; i < sweeps_of_a_round; ++i) sweep();
  }
  for (int i = 0; i < kept_sweeps; ++i) {
    sweep();
    keep();
  }
  return result();
}

}  // namespace

NodeRanking rank_nodes(std::span<const SiteRun> runs, const NodeSettings& settings) {
  return Sampler(runs, settings).sample();
}

}  // namespace halcyon
