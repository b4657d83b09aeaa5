#include "analyzer/estimate/compound_poisson.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <tuple>

#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/other_work.hpp"
#include "analyzer/statistics/interval.hpp"

namespace halcyon {
namespace {

// -- the fit of one shape

constexpr double stray_share = 0.002;  // of the segments, anywhere: other work that came into the group must not decide
constexpr int most_steps = 25;
constexpr double hopeless = 60.0;  // nats behind the best after some steps

struct Start {
  double baseline;  // s
  double scale;     // s
};

struct Fit {
  double baseline = 0.0;  // s
  double scale = 0.0;     // s, standard deviation of the jitter
  double variance = 0.0;  // s^2, of the baseline
  double evidence = -1e300;
};

struct Derivatives {
  double value = -1e300;             // log posterior density up to a constant
  std::array<double, 2> gradient{};  // by baseline, by log scale
  std::array<double, 3> information{};
};

struct Setting {
  double temper;
  JitterPrior jitter;
};

Derivatives log_posterior(const DurationLaw& law, const Cells& cells, const Setting& setting, double baseline,
                          double scale) {
  const double temper = setting.temper;
  Derivatives result;
  if (baseline <= 0.0) return result;
  result.value = 0.0;
  DurationLaw::Point left{0.0, 0.0};
  double left_z = 0.0;
  const double stray = stray_share / static_cast<double>(cells.counts.size());
  for (std::size_t i = 0; i < cells.counts.size(); ++i) {
    DurationLaw::Point right{1.0, 0.0};
    double right_z = 0.0;
    if (i < cells.edges.size()) {
      right_z = (cells.edges[i] - baseline) / scale;
      right = law.at(right_z);
    }
    const double probability = stray + (1.0 - stray_share) * std::max(0.0, right.probability - left.probability);
    const double by_baseline = -(1.0 - stray_share) * (right.density - left.density) / scale;
    const double by_scale = -(1.0 - stray_share) * (right_z * right.density - left_z * left.density);
    const double seen = temper * cells.counts[i] / probability;
    const double expected = temper * cells.segments / probability;
    result.value += temper * cells.counts[i] * std::log(probability);
    result.gradient[0] += seen * by_baseline;
    result.gradient[1] += seen * by_scale;
    result.information[0] += expected * by_baseline * by_baseline;
    result.information[1] += expected * by_baseline * by_scale;
    result.information[2] += expected * by_scale * by_scale;
    left = right;
    left_z = right_z;
  }
  const JitterPrior::Point prior = setting.jitter.at(scale / baseline);
  // The larger a share of the time came from outside, the rarer: its density falls linearly to none at all of it.
  result.value += std::log(scale / baseline) + prior.log_density + std::log(baseline / cells.mean);
  result.gradient[0] -= prior.slope / baseline;
  result.gradient[1] += 1.0 + prior.slope;
  result.information[2] += prior.curvature;
  return result;
}

// Where the law's tenth and middle agree with the group's.
Start rough_start(const DurationLaw& law, const Cells& cells) {
  const double low = law.quantile(0.1);
  const double middle = law.quantile(0.5);
  const double scale = std::max(cells.finest, (cells.middle - cells.low) / std::max(middle - low, 1e-3));
  return {cells.low - scale * low, scale};
}

// Levenberg and Marquardt's method with the expected information.
Fit fit_shape(const DurationLaw& law, const Cells& cells, const Setting& setting, double best_so_far, Start start) {
  double scale = start.scale;
  double baseline = start.baseline;
  Derivatives now = log_posterior(law, cells, setting, baseline, scale);
  double damping = 1e-3;
  for (int step = 0; step < most_steps && damping < 1e5; ++step) {
    const double a = now.information[0] * (1.0 + damping) + 1e-12 / (scale * scale);
    const double b = now.information[1];
    const double c = now.information[2] * (1.0 + damping) + 1e-9;
    const double determinant = a * c - b * b;
    if (!(determinant > 0.0)) {
      damping *= 10.0;
      continue;
    }
    const double move = (now.gradient[0] * c - now.gradient[1] * b) / determinant;
    const double grow = (a * now.gradient[1] - b * now.gradient[0]) / determinant;
    const double next_scale = std::max(cells.finest, scale * std::exp(std::clamp(grow, -0.7, 0.7)));
    const double next_baseline = baseline + std::clamp(move, -3.0 * scale, 3.0 * scale);
    const Derivatives next = log_posterior(law, cells, setting, next_baseline, next_scale);
    if (next.value <= now.value) {
      damping = std::max(8.0 * damping, 1e-2);
      continue;
    }
    const double gained = next.value - now.value;
    baseline = next_baseline;
    scale = next_scale;
    now = next;
    damping = std::max(0.2 * damping, 1e-6);
    if (gained < 1e-2) break;
    if (step >= 2 && gained < 5.0 && now.value < best_so_far - hopeless) break;
  }
  const double determinant = now.information[0] * now.information[2] - now.information[1] * now.information[1];
  if (!(determinant > 0.0) || now.value < -1e299) return {};
  return {baseline, scale, now.information[2] / determinant,
          now.value + std::log(2.0 * std::numbers::pi) - 0.5 * std::log(determinant)};
}

// -- the lattice of shapes

constexpr int hits_count = 31;
constexpr double hits_first = 0.02;
constexpr double hits_ratio = 1.3;
constexpr int delays_count = 24;
constexpr double delays_first = 0.2;
constexpr double delays_ratio = 1.35;
constexpr int stride = 3;  // of the first look
constexpr std::array<double, 2> exposures{1.0, 0.3};

constexpr double promising = 14.0;          // nats behind the best at the first look
constexpr std::size_t most_promising = 40;  // places
constexpr double worth_every_jitter = 7.0;  // nats behind the best
constexpr double negligible = 16.0;         // nats behind the best, whatever other groups say

struct Place {
  int hits;
  int delay;
  std::size_t law;
  std::size_t exposure;
};

DurationShape shape_at(const Place& place, Jitter jitter) {
  return {hits_first * std::pow(hits_ratio, place.hits), delays_first * std::pow(delays_ratio, place.delay), place.law,
          exposures[place.exposure], jitter};
}

// Where every segment is struck many times nothing shows the jitter, and where delays are lost in it nothing shows
// them: such shapes look like others.
bool is_distinct(const Place& place) {
  const DurationShape shape = shape_at(place, Jitter::normal);
  if (place.exposure > 0 && shape.hits < 1.0) return false;
  return (shape.hits < 5.0 || shape.mean_delay <= 20.0) && shape.mean_delay * std::sqrt(shape.hits + 1.0) >= 0.5;
}

// Log prior density. Few groups are undisturbed: no machine is silent. Hits and lengths of delays are of any order of
// magnitude, all alike, but such regular disturbance that nearly all segments are struck often is rarer.
constexpr double undisturbed_prior = 0.03;
constexpr double other_work_prior = 0.03;  // that a group has two kinds of work which no feature tells apart
constexpr double bursts_prior = 0.3;
constexpr double many_hits = 4.0;
// Many hits look like jitter of another law, which has few parameters and so would always win: chosen so that intervals
// hold them as often as they say, on the calibration laws of bench/laws.cpp.
constexpr double regular_hits = 2.0;
constexpr double regular_prior = 3.0;
constexpr double wide_law_prior = 0.25;  // against laws that vary as delays usually do

bool is_wide(const DelayLaw& law) {
  switch (law.family) {
    case DelayFamily::gamma: return law.parameter < 1.0;
    case DelayFamily::inverse_gaussian: return law.parameter > 2.0;
    case DelayFamily::power: return law.parameter < 2.0;
  }
  return false;
}

double log_prior(const DurationShape& shape, double distinct_shapes) {
  double prior = std::log((1.0 - undisturbed_prior) / distinct_shapes);
  if (shape.hits >= 1.0) prior += std::log(shape.exposed < 1.0 ? bursts_prior : 1.0 - bursts_prior);
  if (shape.hits > many_hits) prior -= 0.15 * std::log(shape.hits / many_hits);
  if (shape.hits > regular_hits) prior += std::log(regular_prior);
  if (is_wide(delay_laws[shape.law])) prior += std::log(wide_law_prior);
  return prior;
}

std::vector<Place> make_distinct_places() {
  std::vector<Place> places;
  for (std::size_t law = 0; law < delay_laws.size(); ++law) {
    for (std::size_t exposure = 0; exposure < exposures.size(); ++exposure) {
      for (int hits = 0; hits < hits_count; ++hits) {
        for (int delay = 0; delay < delays_count; ++delay) {
          const Place place{hits, delay, law, exposure};
          if (is_distinct(place)) places.push_back(place);
        }
      }
    }
  }
  return places;
}

// The same for every group.
const std::vector<Place>& distinct_places() {
  static const std::vector<Place> places = make_distinct_places();
  return places;
}

constexpr double least_told_scale = 4.0;      // of the resolution
constexpr double tolerated_dispersion = 1.2;  // that a law which is right may have by chance

// Without delays of its own and without spikes a law leaves nothing to what came from outside.
bool adds_time(const DurationShape& shape) { return shape.hits > 0.0 || shape.jitter == Jitter::spiked; }

// Fits shapes to one group and keeps what came of them.
class Search {
 public:
  Search(const Durations& durations, DurationLaws& laws, double wide_jitter)
      : cells_(cells_of(durations)),
        setting_{temper_of(cells_), {wide_jitter}},
        laws_(laws),
        lattice_(distinct_places()) {}

  std::vector<Explanation> run() {
    search();
    // Where no law is right, how much better one is than another says less: the quasi-likelihood.
    if (const double dispersion = dispersion_of_best(); dispersion > tolerated_dispersion) {
      setting_.temper /= dispersion;
      best_ = -1e300;
      fits_.clear();
      found_.clear();
      search();
    }
    return explanations();
  }

 private:
  struct Found {
    Place place;
    Fit fit;
  };

  void search() {
    double best_evidence = -1e300;
    for (const Jitter jitter : jitters) {
      const DurationShape undisturbed{.hits = 0.0, .jitter = jitter};
      const Start start = rough_start(laws_.get(undisturbed), cells_);
      const Fit found = fit(undisturbed, std::log(undisturbed_prior / jitters.size()), start);
      if (found.evidence > best_evidence) first_jitter_ = jitter;
      best_evidence = std::max(best_evidence, found.evidence);
    }
    look_at_every_third();
    look_around_the_promising();
    vary_the_jitter();
    other_work_ = fit_other_work(cells_, setting_.jitter, setting_.temper);
  }

  double other_work_evidence() const {
    return other_work_ ? other_work_->evidence + std::log(other_work_prior) : -1e300;
  }

  // Pearson's statistic of the best explanation over its degrees of freedom, as the tempered likelihood sees it.
  double dispersion_of_best() {
    if (other_work_evidence() > best_) return 1.0;
    const auto best = std::max_element(
        fits_.begin(), fits_.end(), [](const auto& a, const auto& b) { return a.second.evidence < b.second.evidence; });
    // Steps of the clock are no law's.
    if (best->second.scale < least_told_scale * cells_.finest) return 1.0;
    const DurationLaw& law = laws_.get(best->first);
    constexpr double parameters = 3.0;
    const double freedom = static_cast<double>(cells_.counts.size()) - parameters;
    if (freedom < 1.0) return 1.0;
    double statistic = 0.0;
    double left = 0.0;
    for (std::size_t i = 0; i < cells_.counts.size(); ++i) {
      const bool is_last = i == cells_.edges.size();
      const double right =
          is_last ? 1.0 : law.at((cells_.edges[i] - best->second.baseline) / best->second.scale).probability;
      const double stray = stray_share / static_cast<double>(cells_.counts.size());
      const double expected = cells_.segments * (stray + (1.0 - stray_share) * (right - left));
      statistic += (cells_.counts[i] - expected) * (cells_.counts[i] - expected) / std::max(1.0, expected);
      left = right;
    }
    return setting_.temper * statistic / freedom;
  }

  Fit fit(const DurationShape& shape, double prior, Start start) {
    Fit result = fit_shape(laws_.get(shape), cells_, setting_, best_, start);
    result.evidence += prior;
    best_ = std::max(best_, result.evidence);
    fits_.emplace_back(shape, result);
    return result;
  }
  Fit fit(const Place& place, Jitter jitter, Start start) {
    const DurationShape shape = shape_at(place, jitter);
    return fit(shape, log_prior(shape, static_cast<double>(lattice_.size() * jitters.size())), start);
  }

  void look_at_every_third() {
    for (const Place& place : lattice_) {
      if (place.hits % stride != 1 || place.delay % stride != 1) continue;
      const DurationLaw& law = laws_.get(shape_at(place, first_jitter_));
      found_.push_back({place, fit(place, first_jitter_, rough_start(law, cells_))});
    }
  }

  void look_around_the_promising() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.fit.evidence > b.fit.evidence; });
    const std::size_t centres = std::min(most_promising, found_.size());
    for (std::size_t i = 0; i < centres && found_[i].fit.evidence > best_ - promising; ++i) {
      const Found centre = found_[i];
      for (int hits = centre.place.hits - 1; hits <= centre.place.hits + 1; ++hits) {
        for (int delay = centre.place.delay - 1; delay <= centre.place.delay + 1; ++delay) {
          const Place place{hits, delay, centre.place.law, centre.place.exposure};
          const bool is_centre = hits == centre.place.hits && delay == centre.place.delay;
          if (is_centre || hits < 0 || hits >= hits_count || delay < 0 || delay >= delays_count) continue;
          if (!is_distinct(place)) continue;
          found_.push_back({place, fit(place, first_jitter_, {centre.fit.baseline, centre.fit.scale})});
        }
      }
    }
  }

  void vary_the_jitter() {
    for (const Found& found : found_) {
      if (found.fit.evidence < best_ - worth_every_jitter) continue;
      for (const Jitter jitter : jitters) {
        if (jitter != first_jitter_) fit(found.place, jitter, {found.fit.baseline, found.fit.scale});
      }
    }
  }

  std::vector<Explanation> explanations() const {
    std::vector<Explanation> result;
    for (const auto& [shape, fit] : fits_) {
      if (fit.evidence < best_ - negligible) continue;
      // What was added is the mean duration less b (1 + mean jitter of these very segments), which no estimate
      // of b can beat: the variance of an efficient estimate beside it is the difference of theirs (Hausman 1978).
      const double of_mean_jitter = fit.scale * fit.scale / (setting_.temper * cells_.segments);
      const double deviation = adds_time(shape) ? std::sqrt(std::max(0.0, fit.variance - of_mean_jitter)) : 0.0;
      result.push_back({shape, fit.baseline, fit.scale, deviation, fit.evidence - best_});
    }
    if (other_work_) {
      result.push_back({.shape = {},
                        .baseline = other_work_->baseline,
                        .scale = other_work_->scale,
                        .evidence = other_work_evidence() - best_});
    }
    return result;
  }

  Cells cells_;
  Setting setting_;
  DurationLaws& laws_;
  const std::vector<Place>& lattice_;
  double best_ = -1e300;
  std::vector<std::pair<DurationShape, Fit>> fits_;
  Jitter first_jitter_ = jitters.front();  // the one that explains the group best without delays
  std::vector<Found> found_;               // with the first kind of jitter
  std::optional<OtherWork> other_work_;
};

// -- what groups tell each other

// Standard deviations between groups. The processor and its other users take their part of each second, a network or a
// file system of each call; what the recorder counts as calls is not all that may be struck.
constexpr double same_rate_in_time = 0.6;   // of the log of the delays a second
constexpr double same_rate_in_calls = 0.6;  // of the log of the delays a call
constexpr double same_delay = 0.4;          // of the log of the mean delay
constexpr double other_law = 0.2;           // how much an explanation by another law of delays counts
constexpr double least_said = 1e-4;         // probability of an explanation that is told to others
constexpr double stranger = 0.1;            // share of groups whose disturbance has nothing to do with the others'

struct Disturbance {
  bool none;
  double log_rate_in_time = 0.0;
  double log_rate_in_calls = 0.0;
  double log_delay = 0.0;
  std::size_t law = 0;
  double probability = 0.0;
};

std::vector<Disturbance> disturbances_of(const std::vector<Explanation>& explanations, double calls) {
  std::vector<Disturbance> result;
  double total = 0.0;
  for (const Explanation& item : explanations) total += std::exp(item.evidence);
  for (const Explanation& item : explanations) {
    const DurationShape& shape = item.shape;
    Disturbance one{.none = shape.hits == 0.0, .law = shape.law, .probability = std::exp(item.evidence) / total};
    if (!one.none) {
      one.log_rate_in_time = std::log(shape.hits * shape.exposed / item.baseline);
      one.log_rate_in_calls = std::log(shape.hits * shape.exposed / std::max(calls, 1.0));
      one.log_delay = std::log(shape.mean_delay * item.scale);
    }
    result.push_back(one);
  }
  return result;
}

constexpr double most_apart = 4.0;  // standard deviations: delays farther apart say nothing of each other
constexpr double unlike = 9.0;      // a likeness of exp(-9) and less is none beside `stranger`

// What a group says to others.
struct Said {
  double undisturbed = 0.0;        // probability
  std::vector<Disturbance> kinds;  // by ascending delay
};

// What is nearly alike falls into one cell: much finer than groups are alike, and far fewer.
using AlikeCell = std::tuple<std::size_t, long, long, long>;
AlikeCell alike_cell(const Disturbance& one, double finer) {
  return {one.law, std::lround(finer * one.log_delay / same_delay),
          std::lround(finer * one.log_rate_in_calls / same_rate_in_calls),
          std::lround(finer * one.log_rate_in_time / same_rate_in_time)};
}

constexpr double said_finer = 2.0;   // cells in a standard deviation between groups
constexpr double asked_finer = 4.0;  // where nothing is added up, but the likeness is steep

Said said_by(const std::vector<Disturbance>& disturbances) {
  Said said;
  std::map<AlikeCell, Disturbance> cells;
  for (const Disturbance& one : disturbances) {
    if (one.probability < least_said) continue;
    if (one.none) {
      said.undisturbed += one.probability;
      continue;
    }
    const auto [entry, is_new] = cells.try_emplace(alike_cell(one, said_finer), one);
    if (!is_new) entry->second.probability += one.probability;
  }
  for (const auto& [cell, one] : cells) said.kinds.push_back(one);
  std::stable_sort(said.kinds.begin(), said.kinds.end(),
                   [](const Disturbance& a, const Disturbance& b) { return a.log_delay < b.log_delay; });
  return said;
}

// How much a group's explanations speak for one disturbance: near 1 if they are all of it.
double support(const Said& said, const Disturbance& one) {
  const double farthest = most_apart * same_delay;
  auto other = std::partition_point(said.kinds.begin(), said.kinds.end(),
                                    [&](const Disturbance& kind) { return kind.log_delay < one.log_delay - farthest; });
  double sum = 0.0;
  for (; other != said.kinds.end() && other->log_delay <= one.log_delay + farthest; ++other) {
    const double in_time = (one.log_rate_in_time - other->log_rate_in_time) / same_rate_in_time;
    const double in_calls = (one.log_rate_in_calls - other->log_rate_in_calls) / same_rate_in_calls;
    const double delay = (one.log_delay - other->log_delay) / same_delay;
    const double apart_in_time = 0.5 * (in_time * in_time + delay * delay);
    const double apart_in_calls = 0.5 * (in_calls * in_calls + delay * delay);
    double likeness = 0.0;
    if (apart_in_time < unlike) likeness += 0.5 * std::exp(-apart_in_time);
    if (apart_in_calls < unlike) likeness += 0.5 * std::exp(-apart_in_calls);
    sum += other->probability * (one.law == other->law ? 1.0 : other_law) * likeness;
  }
  return sum;
}

// Nine equally probable values of a standard normal law.
constexpr std::array<double, 9> normal_values{-1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593};

}  // namespace

std::vector<Explanation> explain(const Durations& durations, DurationLaws& laws, double wide_jitter) {
  return Search(durations, laws, wide_jitter).run();
}

void share_between_groups(std::vector<std::vector<Explanation>>& groups, const std::vector<double>& calls,
                          const std::vector<std::size_t>& telling) {
  std::vector<std::vector<Disturbance>> known;
  for (std::size_t g = 0; g < groups.size(); ++g) known.push_back(disturbances_of(groups[g], calls[g]));
  for (const std::size_t other : telling) {
    const Said said = said_by(known[other]);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g == other) continue;
      // Explanations that differ in little but their jitter are answered once.
      std::map<AlikeCell, double> answers;
      for (std::size_t i = 0; i < groups[g].size(); ++i) {
        const Disturbance& one = known[g][i];
        if (one.none) {
          groups[g][i].evidence += std::log(stranger + said.undisturbed);
          continue;
        }
        const auto [answer, is_new] = answers.try_emplace(alike_cell(one, asked_finer));
        if (is_new) answer->second = std::log(stranger + support(said, one));
        groups[g][i].evidence += answer->second;
      }
    }
  }
}

AddedTime added_time(const std::vector<Explanation>& explanations, double mean_duration, double far_out) {
  struct Weighted {
    double seconds;
    double weight;
  };
  std::vector<Weighted> values;
  double best = -1e300;
  AddedTime result;
  for (const Explanation& item : explanations) {
    if (item.evidence > best) {
      best = item.evidence;
      result.jitter = item.scale;
    }
  }
  double total = 0.0;
  for (const Explanation& item : explanations) {
    const double weight = std::exp(item.evidence - best);
    total += weight;
    if (!adds_time(item.shape)) {
      values.push_back({far_out, weight});
      continue;
    }
    for (const double normal : normal_values) {
      const double seconds = mean_duration - item.baseline + item.deviation * normal;
      values.push_back({std::max(far_out, seconds), weight / normal_values.size()});
    }
  }
  std::sort(values.begin(), values.end(), [](const Weighted& a, const Weighted& b) { return a.seconds < b.seconds; });
  const auto quantile = [&](double probability) {
    double sum = 0.0;
    for (const Weighted& value : values) {
      sum += value.weight / total;
      if (sum >= probability) return value.seconds;
    }
    return values.empty() ? 0.0 : values.back().seconds;
  };
  result.low = quantile(0.5 - interval_confidence / 2.0);
  result.median = quantile(0.5);
  result.high = quantile(0.5 + interval_confidence / 2.0);
  return result;
}

}  // namespace halcyon
