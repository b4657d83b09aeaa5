#include "analyzer/site/changes.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "analyzer/repeat/random_effects.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/statistics/levels.hpp"
#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/sorting.hpp"
#include "analyzer/statistics/student.hpp"

namespace halcyon {
namespace {

constexpr double wrongly_code = 0.02;  // of the machine's changes, so many may be called the code's

/// Values along the calendar.
struct Series {
  std::vector<double> days;
  std::vector<double> values;
  std::vector<double> deviations;
  std::vector<double> costs_of_change;
  std::vector<double> own_errors;  // the part of the deviations by which all may lean to one side together
  double lean_error = 0.0;         // of that, in own errors
};

/// Two neighbouring stretches of a series.
struct Step {
  Stretch before;
  Stretch after;
  double level_before = 0.0;
  double level_after = 0.0;

  Stretch both() const { return {before.begin, after.end}; }
  double level_at(std::size_t i) const { return i < after.begin ? level_before : level_after; }
};

double parameter_cost(std::size_t values) { return 0.5 * std::log(static_cast<double>(values)); }

/// Three parameters by weighted least squares, of values that are not far out.
struct Fitted {
  Eigen::Vector3d coefficients;
  Eigen::CompleteOrthogonalDecomposition<Eigen::Matrix3d> products;
  Eigen::Vector3d own_errors;  // the sum of parts times own errors
  double squares = 0.0;        // of distances, in deviations
  double count = 0.0;
  double cost = 0.0;  // of all values
};

// To the values of the window that are near the levels, then to those near the fit. `parts`: of a value, by its place
// in the series and its day, -1/2 to 1/2 within the window.
template <class Parts>
Fitted fitted(const Series& series, const Step& step, const Stretch& window, Parts parts_of) {
  const double middle = 0.5 * (series.days[window.begin] + series.days[window.end - 1]);
  const double length = series.days[window.end - 1] - series.days[window.begin];
  const auto parts = [&](std::size_t i) -> Eigen::Vector3d {
    return parts_of(i, length > 0.0 ? (series.days[i] - middle) / length : 0.0);
  };
  Fitted fit;
  constexpr int fits = 3;  // Numerics
  for (int number = 0; number < fits; ++number) {
    Eigen::Matrix3d products = Eigen::Matrix3d::Zero();
    Eigen::Vector3d sums = Eigen::Vector3d::Zero();
    fit.own_errors.setZero();
    fit.squares = fit.count = 0.0;
    for (std::size_t i = window.begin; i < window.end; ++i) {
      const double expected = number > 0 ? fit.coefficients.dot(parts(i)) : step.level_at(i);
      const double distance = (series.values[i] - expected) / series.deviations[i];
      if (std::abs(distance) > most_distance) continue;
      const Eigen::Vector3d part = parts(i) / series.deviations[i];
      products += part * part.transpose();
      sums += part * (series.values[i] / series.deviations[i]);
      fit.own_errors += part * (series.own_errors[i] / series.deviations[i]);
      fit.squares += distance * distance;
      fit.count += 1.0;
    }
    fit.products.compute(products);
    fit.coefficients = fit.products.solve(sums);
  }
  for (std::size_t i = window.begin; i < window.end; ++i)
    fit.cost += cost_of_distance(series.values[i], fit.coefficients.dot(parts(i)), series.deviations[i]);
  return fit;
}

// A step has a level, another level and its place, a parabola three parameters. What is at once shows near it: as many
// values as the shorter stretch has are looked at on both sides.
bool is_smooth(const Series& series, const Step& step) {
  const std::size_t side = std::min(step.before.size(), step.after.size());
  const Stretch window{step.after.begin - side, step.after.begin + side};
  double cost = 0.0;
  for (std::size_t i = window.begin; i < window.end; ++i)
    cost += cost_of_distance(series.values[i], step.level_at(i), series.deviations[i]);
  const double of_step = cost + parameter_cost(window.size()) + series.costs_of_change[step.after.begin];
  const Fitted parabola =
      fitted(series, step, window, [](std::size_t, double day) { return Eigen::Vector3d(1.0, day, day * day); });
  return parabola.cost + 3.0 * parameter_cost(window.size()) <= of_step;
}

/// Where the later one of two levels begins: places in the series, and days.
struct Place {
  std::size_t best = 0;
  std::size_t low = 0;
  std::size_t high = 0;
  double day = 0.0;
  Interval days{};
};

Place place_of(const Series& series, const Step& step) {
  const auto [begin, end] = step.both();
  std::vector<double> costs;  // of places from begin + 1 on, less a constant
  double cost = 0.0;
  for (std::size_t i = begin; i + 1 < end; ++i) {
    cost += cost_of_distance(series.values[i], step.level_before, series.deviations[i]) -
            cost_of_distance(series.values[i], step.level_after, series.deviations[i]);
    costs.push_back(cost + series.costs_of_change[i + 1]);
  }
  const double least = *std::ranges::min_element(costs);
  double sum = 0.0;
  for (double& one : costs) sum += one = std::exp(least - one);
  Place place{.best = begin + 1 + static_cast<std::size_t>(std::ranges::max_element(costs) - costs.begin())};
  const double tail = 0.5 * (1.0 - interval_confidence);
  double below = 0.0;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    below += costs[k] / sum;
    if (place.low == 0 && below >= tail) place.low = begin + 1 + k;
    if (place.high == 0 && below >= 1.0 - tail) place.high = begin + 1 + k;
  }
  if (place.high == 0) place.high = end - 1;
  place.day = 0.5 * (series.days[place.best - 1] + series.days[place.best]);
  place.days = {series.days[place.low - 1], series.days[place.high]};
  return place;
}

/// A difference, with its standard error and degrees of freedom.
struct Difference {
  double value = 0.0;
  double error = 0.0;
  double freedom = 1.0;

  double half_width() const { return student_quantile_of_interval(interval_confidence, freedom) * error; }
  Interval interval() const { return interval_around(value, half_width()); }
};

// The values of a stretch that are not far from its level, with their weights.
template <class Use>
void for_each_near(const Series& series, const Stretch& stretch, double level, Use use) {
  for (std::size_t i = stretch.begin; i < stretch.end; ++i)
    if (std::abs(series.values[i] - level) <= most_distance * series.deviations[i])
      use(i, 1.0 / (series.deviations[i] * series.deviations[i]));
}

/// Of these.
struct Mean {
  double value = 0.0;
  double own_error = 0.0;
  double weights = 0.0;
};

Mean mean_near(const Series& series, const Stretch& stretch, double level) {
  Mean mean;
  for_each_near(series, stretch, level, [&](std::size_t i, double weight) {
    mean.value += weight * series.values[i];
    mean.own_error += weight * series.own_errors[i];
    mean.weights += weight;
  });
  if (mean.weights == 0.0) return {.value = level};
  mean.value /= mean.weights;
  mean.own_error /= mean.weights;
  return mean;
}

// If it drifts on both sides alike, too; with its cost.
std::pair<Difference, double> difference_beside_drift(const Series& series, const Step& step) {
  const Fitted fit = fitted(series, step, step.both(), [&step](std::size_t i, double day) {
    const bool is_after = i >= step.after.begin;
    return Eigen::Vector3d(is_after ? 0.0 : 1.0, is_after ? 1.0 : 0.0, day);
  });
  const Eigen::Vector3d of_step(-1.0, 1.0, 0.0);
  const Eigen::Vector3d weights = fit.products.solve(of_step);
  Difference difference{.value = of_step.dot(fit.coefficients), .freedom = std::max(1.0, fit.count - 3.0)};
  difference.error = std::hypot(std::sqrt(fit.squares / difference.freedom * weights.dot(of_step)),
                                series.lean_error * weights.dot(fit.own_errors));
  return {difference, fit.cost};
}

// Both stretches scatter alike, in deviations.
Difference difference_of_levels(const Series& series, const Step& step) {
  const Mean before = mean_near(series, step.before, step.level_before);
  const Mean after = mean_near(series, step.after, step.level_after);
  double squares = 0.0;
  double count = 0.0;
  const auto add = [&](const Stretch& stretch, double level, const Mean& mean) {
    for_each_near(series, stretch, level, [&](std::size_t i, double weight) {
      squares += weight * (series.values[i] - mean.value) * (series.values[i] - mean.value);
      count += 1.0;
    });
  };
  add(step.before, step.level_before, before);
  add(step.after, step.level_after, after);
  Difference difference{.value = after.value - before.value, .freedom = std::max(1.0, count - 2.0)};
  if (before.weights > 0.0 && after.weights > 0.0) {
    const double of_scatter = std::sqrt(squares / difference.freedom * (1.0 / before.weights + 1.0 / after.weights));
    difference.error = std::hypot(of_scatter, series.lean_error * (after.own_error - before.own_error));
  }
  return difference;
}

// Of levels, and beside a drift, each as likely as what the drift saves (J. Hoeting, D. Madigan, A. Raftery, C.
// Volinsky, "Bayesian model averaging", Stat. Sci. 14, 1999).
Difference averaged(const Difference& of_levels, const Difference& beside_drift, double saved) {
  const double drifts = 1.0 / (1.0 + std::exp(-saved));
  Difference both{.value = std::lerp(of_levels.value, beside_drift.value, drifts), .freedom = of_levels.freedom};
  const auto square = [&both](const Difference& one) {
    return one.error * one.error + (one.value - both.value) * (one.value - both.value);
  };
  both.error = std::sqrt(std::lerp(square(of_levels), square(beside_drift), drifts));
  return both;
}

Difference difference_of(const Series& series, const Step& step) {
  const Difference of_levels = difference_of_levels(series, step);
  const auto [begin, end] = step.both();
  double cost = -parameter_cost(end - begin);
  for (std::size_t i = begin; i < end; ++i)
    cost += cost_of_distance(series.values[i], step.level_at(i), series.deviations[i]);
  const auto [beside_drift, cost_of_drift] = difference_beside_drift(series, step);
  return averaged(of_levels, beside_drift, cost - cost_of_drift);
}

// Of the means of all values; each stretch scatters by itself (B. L. Welch, Biometrika 34, 1947).
Difference difference_of_means(const std::vector<double>& before, const std::vector<double>& after) {
  double variance = 0.0;
  double squares = 0.0;
  for (const std::vector<double>* values : {&before, &after}) {
    const auto n = static_cast<double>(values->size());
    const double of_mean = squares_about(*values, mean_value(*values)) / (n * std::max(1.0, n - 1.0));
    variance += of_mean;
    squares += of_mean * of_mean / std::max(1.0, n - 1.0);
  }
  return {mean_value(after) - mean_value(before), std::sqrt(variance),
          squares > 0.0 ? variance * variance / squares : 1.0};
}

/// The steps of a series; drift is said, and left out.
struct Steps {
  std::vector<Step> steps;
  bool drifts = false;
};

double cost_of(const Series& series, const Division& division) {
  double cost = 0.0;
  for (const auto& [stretch, level] : division.stretches) {
    if (stretch.begin > 0) cost += series.costs_of_change[stretch.begin];
    for (std::size_t i = stretch.begin; i < stretch.end; ++i)
      cost += cost_of_distance(series.values[i], level, series.deviations[i]);
  }
  return cost;
}

// Deviations grow with the noise that was found.
Division divided_in_noise(Series& series) {
  Division division = divided_at_least_cost(series.values, series.deviations, series.costs_of_change);
  for (double& deviation : series.deviations) deviation *= division.noise;
  return division;
}

// Where the interval of one run lies too high, because what disturbed it does that to intervals, those of all such runs
// do. So all values may lean to one side, by as many of their own errors as one may be off by. Values are then without
// that.
Division divided_without_lean(Series& series) {
  const std::vector<double> given = series.values;
  const auto take_off = [&](double lean) {
    for (std::size_t i = 0; i < given.size(); ++i) series.values[i] = given[i] - lean * series.own_errors[i];
  };
  divided_in_noise(series);
  Division best;
  double best_lean = 0.0;
  double least = std::numeric_limits<double>::infinity();
  constexpr double lean_step = 0.25;  // Numerics
  for (double lean = -most_distance; lean <= most_distance; lean += lean_step) {
    take_off(lean);
    Division division = divided_at_least_cost(series.values, series.deviations, series.costs_of_change);
    const double cost = cost_of(series, division) + cost_of_distance(lean, 0.0, 1.0);
    if (cost >= least) continue;
    least = cost;
    best_lean = lean;
    best = std::move(division);
  }
  take_off(best_lean);
  double information = 1.0;
  for (const auto& [stretch, level] : best.stretches) {
    const Mean mean = mean_near(series, stretch, level);
    for_each_near(series, stretch, level, [&](std::size_t i, double weight) {
      information += weight * (series.own_errors[i] - mean.own_error) * (series.own_errors[i] - mean.own_error);
    });
  }
  series.lean_error = 1.0 / std::sqrt(information);
  return best;
}

// Between neighbouring stretches.
std::vector<Step> all_steps(const Division& division) {
  std::vector<Step> steps;
  for (std::size_t k = 1; k < division.stretches.size(); ++k) {
    const auto& [before, level_before] = division.stretches[k - 1];
    const auto& [after, level_after] = division.stretches[k];
    steps.push_back({before, after, level_before, level_after});
  }
  return steps;
}

Steps steps_of(Series& series) {
  Steps found{.steps = all_steps(divided_without_lean(series))};
  found.drifts = std::erase_if(found.steps, [&series](const Step& step) { return is_smooth(series, step); }) > 0;
  return found;
}

double percent_of(double logarithm) { return 100.0 * std::expm1(logarithm); }
Interval percent_of(const Interval& interval) { return {percent_of(interval.low), percent_of(interval.high)}; }

/// One work among the others of its site.
class WorkAmongOthers {
 public:
  WorkAmongOthers(std::uint32_t work, std::span<const SiteRun> runs, const NodeRanking& nodes, const SiteLevels& levels)
      : work_(work), runs_(runs), nodes_(nodes), levels_(levels) {
    std::vector<double> left(runs.size(), 0.0);
    for (const std::size_t i : levels.order) {
      if (levels.part[runs[i].work] != levels.part[work]) continue;
      left[i] = beside_nodes(i) - levels.level[i];
      (runs[i].work == work ? own_ : others_).push_back(i);
    }
    if (!others_.empty()) common_ = common_time(runs, levels, left, levels.part[work], work);
  }

  WorkChanges changes() const {
    WorkChanges result;
    result.runs = own_.size();
    if (own_.size() < 2) return result;
    add_own_changes(result);
    add_changes_of_machine(result);
    std::ranges::sort(result.changes, {}, &Change::day);
    add_changes_of_loss(result);
    return result;
  }

 private:
  double beside_nodes(std::size_t i) const { return runs_[i].log_seconds - nodes_.slowed[i]; }
  double beside_common(std::size_t i) const {
    return beside_nodes(i) - (others_.empty() ? 0.0 : common_.values[common_.bin_of(runs_[i].day)]);
  }

  void add_own_changes(WorkChanges& result) const;
  void add_changes_of_machine(WorkChanges& result) const;
  void add_changes_of_loss(WorkChanges& result) const;
  std::vector<double> losses_in(const Stretch& stretch) const;
  std::vector<double> costs_of_change() const;
  std::string version_at(const Place& place) const;
  void compare_with_others(Change& change, const Difference& own, const Stretch& around) const;

  std::uint32_t work_;
  std::span<const SiteRun> runs_;
  const NodeRanking& nodes_;
  const SiteLevels& levels_;
  std::vector<std::size_t> own_;     // places of its runs, by day
  std::vector<std::size_t> others_;  // of the others in its part of the site
  CommonTime common_;                // of the others
};

std::vector<double> WorkAmongOthers::costs_of_change() const {
  std::vector<double> costs(own_.size(), usual_cost_of_change(own_.size()));
  std::vector<std::size_t> versions;
  for (std::size_t k = 1; k < own_.size(); ++k)
    if (runs_[own_[k]].label != runs_[own_[k - 1]].label) versions.push_back(k);
  const double of_version = parameter_cost(own_.size()) + std::log(static_cast<double>(versions.size()));
  for (const std::size_t k : versions) costs[k] = std::min(costs[k], of_version);
  return costs;
}

// The words that the first label does not have; all of them, if some are gone.
std::string new_words(const std::string& before, const std::string& label) {
  const auto words_of = [](const std::string& text) {
    std::istringstream in(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  const std::vector<std::string> known = words_of(before);
  std::string fresh;
  for (const std::string& word : words_of(label))
    if (std::ranges::find(known, word) == known.end()) fresh += (fresh.empty() ? "" : " ") + word;
  return fresh.empty() ? label : fresh;
}

// What is new in the version nearest to the best place.
std::string WorkAmongOthers::version_at(const Place& place) const {
  std::string label;
  std::size_t distance = own_.size();
  for (std::size_t k = place.low; k <= place.high; ++k) {
    const std::size_t from_best = k > place.best ? k - place.best : place.best - k;
    if (runs_[own_[k]].label == runs_[own_[k - 1]].label || from_best >= distance) continue;
    distance = from_best;
    label = new_words(runs_[own_[k - 1]].label, runs_[own_[k]].label);
  }
  return label;
}

void WorkAmongOthers::add_own_changes(WorkChanges& result) const {
  Series series;
  for (const std::size_t i : own_) {
    const std::size_t bin = others_.empty() ? 0 : common_.bin_of(runs_[i].day);
    const double of_common = others_.empty() ? 0.0 : std::hypot(common_.errors[bin], common_.change_near(bin));
    series.days.push_back(runs_[i].day);
    series.values.push_back(beside_common(i));
    series.own_errors.push_back(runs_[i].log_error);
    series.deviations.push_back(std::hypot(runs_[i].log_error, levels_.scatter[work_], nodes_.slowed_error[i]));
    series.deviations.back() = std::max(least_noise, std::hypot(series.deviations.back(), of_common));
  }
  series.costs_of_change = costs_of_change();
  const Steps found = steps_of(series);
  result.drifts = found.drifts;
  for (const Step& step : found.steps) {
    const Difference own = difference_of(series, step);
    const Place place = place_of(series, step);
    Change change;
    change.day = place.day;
    change.day_interval = place.days;
    change.percent = percent_of(own.value);
    change.interval_percent = percent_of(own.interval());
    change.label = version_at(place);
    compare_with_others(change, own, step.both());
    result.changes.push_back(change);
  }
}

// What the others did in the meantime.
void WorkAmongOthers::compare_with_others(Change& change, const Difference& own, const Stretch& around) const {
  std::vector<bool> is_own;  // (hosts)
  for (std::size_t k = around.begin; k < around.end; ++k) {
    for (const std::uint32_t host : runs_[own_[k]].hosts) {
      if (is_own.size() <= host) is_own.resize(host + std::size_t{1});
      is_own[host] = true;
    }
  }
  const double first_day = runs_[own_[around.begin]].day;
  const double last_day = runs_[own_[around.end - 1]].day;
  struct Sums {
    std::size_t count = 0;
    double values = 0.0;
    double weights = 0.0;
    double squares = 0.0;  // of weights times deviations
    double own_errors = 0.0;
    double days = 0.0;
    double squares_of_days = 0.0;
    double values_and_days = 0.0;
    std::size_t stretch = 0;

    double of_days() const { return squares_of_days - days * days / weights; }
    double of_values_and_days() const { return values_and_days - days * values / weights; }
  };
  struct Sides {
    Sums before;
    Sums after;
  };
  std::vector<Sides> works(levels_.scatter.size());
  const auto add = [&](Sums& sums, std::size_t i) {
    double shared = 0.0;
    for (const std::uint32_t host : runs_[i].hosts) shared += host < is_own.size() && is_own[host] ? 1.0 : 0.0;
    if (shared == 0.0) return;
    const double value = beside_common(i);
    if (std::abs(beside_nodes(i) - levels_.level[i] - levels_.common[i]) > most_distance * levels_.deviation[i]) return;
    const double deviation = levels_.deviation[i];
    const double weight = shared / static_cast<double>(runs_[i].hosts.size()) / (deviation * deviation);
    ++sums.count;
    sums.values += weight * value;
    sums.weights += weight;
    sums.squares += weight * weight * deviation * deviation;
    sums.own_errors += weight * runs_[i].log_error;
    const double day_since = runs_[i].day - change.day;
    sums.days += weight * day_since;
    sums.squares_of_days += weight * day_since * day_since;
    sums.values_and_days += weight * value * day_since;
  };
  for (const std::size_t i : others_) {  // backwards from the day: as long as its level is the last one before it
    const double day = runs_[i].day;
    Sides& sides = works[runs_[i].work];
    if (day >= first_day && day <= change.day_interval.low) {
      if (sides.before.stretch != levels_.stretch[i]) sides.before = {.stretch = levels_.stretch[i]};
      add(sides.before, i);
    } else if (day >= change.day_interval.high && day <= last_day) {
      if (sides.after.count == 0) sides.after.stretch = levels_.stretch[i];
      if (sides.after.stretch == levels_.stretch[i]) add(sides.after, i);
    }
  }
  std::vector<double> differences;
  std::vector<double> errors;
  for (const auto& [before, after] : works) {
    if (before.count < 2 || after.count < 2) continue;
    const Difference of_levels{
        after.values / after.weights - before.values / before.weights,
        std::hypot(std::sqrt(before.squares) / before.weights, std::sqrt(after.squares) / after.weights,
                   after.own_errors / after.weights - before.own_errors / before.weights)};
    Difference of_work = of_levels;
    const double of_days = before.of_days() + after.of_days();
    if (of_days > 0.0) {
      const double a_day = (before.of_values_and_days() + after.of_values_and_days()) / of_days;
      const double days = after.days / after.weights - before.days / before.weights;
      const Difference beside_drift{of_levels.value - a_day * days,
                                    std::hypot(of_levels.error, days / std::sqrt(of_days))};
      of_work =
          averaged(of_levels, beside_drift, 0.5 * a_day * a_day * of_days - parameter_cost(before.count + after.count));
    }
    differences.push_back(of_work.value);
    errors.push_back(of_work.error);
  }
  change.others = differences.size();
  if (change.others < default_least_runs) return;
  const WeightedMean mean = random_effects_mean(differences, errors);
  const Difference of_others{mean.mean, mean.error, mean.freedom};
  change.others_percent = percent_of(of_others.interval());
  const Difference beyond{own.value - mean.mean,
                          std::sqrt(own.error * own.error + mean.error * mean.error + mean.between_variance),
                          std::min(own.freedom, mean.freedom)};
  const bool is_like_others =
      std::abs(beyond.value) <= student_quantile_of_interval(1.0 - wrongly_code, beyond.freedom) * beyond.error;
  if (!is_like_others) {
    change.of = ChangeOf::code;
    change.percent = percent_of(beyond.value);
    change.interval_percent = percent_of(beyond.interval());
  } else if (excludes_zero(of_others.interval()) && own.value * mean.mean > 0.0) {
    change.of = ChangeOf::machine;
  } else {  // works differ by that much with no change of their own
    change.interval_percent = percent_of(Difference{own.value, beyond.error, beyond.freedom}.interval());
  }
}

void WorkAmongOthers::add_changes_of_machine(WorkChanges& result) const {
  const std::size_t bins = common_.values.size();
  if (bins < 2) return;
  std::vector<double> middles;  // a bin may have begun before the change
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double end = bin + 1 < bins ? common_.begins[bin + 1] : runs_[others_.back()].day;
    middles.push_back(std::midpoint(common_.begins[bin], end));
  }
  Series series{middles, common_.values, common_.errors, std::vector(bins, usual_cost_of_change(bins)),
                common_.own_errors};
  const std::optional<double> scatter = scatter_of_steps(series.values, series.deviations);  // from day to day
  for (double& deviation : series.deviations) deviation = std::hypot(deviation, scatter.value_or(0.0));
  for (const Step& step : steps_of(series).steps) {
    const Place place = place_of(series, step);
    if (place.days.high < runs_[own_.front()].day || place.days.low > runs_[own_.back()].day) continue;
    const Difference difference = difference_of(series, step);
    const auto others = static_cast<std::size_t>(std::ranges::count(levels_.part, levels_.part[work_])) - 1;
    result.changes.push_back({.of = others < default_least_runs ? ChangeOf::unclear : ChangeOf::machine,
                              .day = place.day,
                              .day_interval = place.days,
                              .percent = percent_of(difference.value),
                              .interval_percent = percent_of(difference.interval()),
                              .others_percent = percent_of(difference.interval()),
                              .others = others,
                              .label = {}});
  }
}

std::vector<double> WorkAmongOthers::losses_in(const Stretch& stretch) const {
  std::vector<double> losses;
  for (std::size_t k = stretch.begin; k < stretch.end; ++k) losses.push_back(100.0 * runs_[own_[k]].lost_share);
  return losses;
}

void WorkAmongOthers::add_changes_of_loss(WorkChanges& result) const {
  const std::size_t n = own_.size();
  // What differs by rounding alone has the same rank.
  const auto lost = [this](std::size_t run) { return static_cast<double>(static_cast<float>(runs_[run].lost_share)); };
  std::vector<double> sorted;
  for (const std::size_t i : own_) sorted.push_back(lost(i));
  sort_ascending(std::span<double>(sorted));
  Series series;
  for (const std::size_t i : own_) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), lost(i));
    const double rank = 0.5 * static_cast<double>((first - sorted.begin()) + (last - sorted.begin()) + 1);
    series.days.push_back(runs_[i].day);
    series.values.push_back(expected_order_statistic(rank, static_cast<double>(n)));
  }
  double squares = 0.0;
  for (std::size_t k = 1; k < n; ++k) squares += std::pow(series.values[k] - series.values[k - 1], 2);
  if (squares == 0.0) return;  // the same loss in all runs
  series.deviations.assign(n, std::sqrt(0.5 * squares / static_cast<double>(n - 1)));
  series.costs_of_change.assign(n, usual_cost_of_change(n));
  for (const Step& step : all_steps(divided_in_noise(series))) {
    const Place place = place_of(series, step);
    const Difference difference = difference_of_means(losses_in(step.before), losses_in(step.after));
    if (!excludes_zero(difference.interval())) continue;
    result.losses.push_back({.day = place.day,
                             .day_interval = place.days,
                             .points = difference.value,
                             .interval_points = difference.interval()});
  }
}

}  // namespace

SiteLevels levels_beside_nodes(std::span<const SiteRun> runs, const NodeRanking& nodes) {
  std::vector<double> values;
  std::vector<double> errors;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    values.push_back(runs[i].log_seconds - nodes.slowed[i]);
    errors.push_back(std::hypot(runs[i].log_error, nodes.slowed_error[i]));
  }
  return site_levels(runs, values, errors);
}

WorkChanges changes_of(std::uint32_t work, std::span<const SiteRun> runs, const NodeRanking& nodes,
                       const SiteLevels& levels) {
  if (work >= levels.scatter.size()) return {};
  return WorkAmongOthers(work, runs, nodes, levels).changes();
}

}  // namespace halcyon
