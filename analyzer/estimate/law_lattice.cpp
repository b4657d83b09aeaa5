#include "analyzer/estimate/law_lattice.hpp"

#include <array>
#include <cmath>

namespace halcyon {
namespace {

// Numerics: the grid of shapes.
constexpr int hits_count = 31;
constexpr int delays_count = 24;
constexpr int stride = 3;  // of the first look

// Of a segment, on average. Fewer are told as segments far out; more look like jitter of another law.
constexpr double fewest_hits = 0.02;
constexpr double most_hits = 50.0;
// Mean delays, in standard deviations of the jitter. Of shorter ones, many look like jitter.
constexpr double shortest_delay = 0.2;
constexpr double longest_delay = 200.0;

constexpr std::array<double, 2> exposures{1.0, 0.3};

// Few groups are undisturbed: no machine is silent. Hits and lengths of delays may be of any order of magnitude, with
// the same probability. Disturbance so regular that it strikes nearly all segments often is rarer.
constexpr double undisturbed_prior = 0.03;  // by one kind of work, and the same by two

// Many hits look like jitter of another law, which has few parameters and so would always win. This prior is chosen so
// that intervals hold them as often as they say, on the calibration laws of bench/laws.cpp.
constexpr double regular_hits = 2.0;
constexpr double regular_prior = 3.0;
constexpr double wide_law_prior = 0.25;  // against laws that vary as delays usually do

// Where every segment is struck many times, nothing shows the jitter. Where delays are lost in the jitter, nothing
// shows them. Such shapes look like others.
bool is_distinct(const LatticePlace& place) {
  const DurationShape shape = shape_at(place, Jitter::normal);
  if (place.exposure > 0 && shape.hits < 1.0) return false;
  return (shape.hits < 5.0 || shape.mean_delay <= 20.0) && shape.mean_delay * std::sqrt(shape.hits + 1.0) >= 0.5;
}

bool is_wide(const DelayLaw& law) {
  switch (law.family) {
    case DelayFamily::gamma: return law.parameter < 1.0;
    case DelayFamily::inverse_gaussian: return law.parameter > 2.0;
    case DelayFamily::power: return law.parameter < 2.0;
  }
  return false;
}

std::vector<LatticePlace> make_places() {
  std::vector<LatticePlace> places;
  for (std::size_t law = 0; law < delay_laws.size(); ++law) {
    for (std::size_t exposure = 0; exposure < exposures.size(); ++exposure) {
      for (int hits = 0; hits < hits_count; ++hits) {
        for (int delay = 0; delay < delays_count; ++delay) {
          const LatticePlace place{hits, delay, law, exposure};
          if (is_distinct(place)) places.push_back(place);
        }
      }
    }
  }
  return places;
}

}  // namespace

const std::vector<LatticePlace>& lattice_places() {
  static const std::vector<LatticePlace> places = make_places();
  return places;
}

DurationShape shape_at(const LatticePlace& place, Jitter jitter) {
  const auto at = [](double first, double last, int step, int count) {
    return first * std::pow(last / first, static_cast<double>(step) / (count - 1));
  };
  return {at(fewest_hits, most_hits, place.hits, hits_count),
          at(shortest_delay, longest_delay, place.delay, delays_count), place.law, exposures[place.exposure], jitter};
}

bool is_of_first_look(const LatticePlace& place) { return place.hits % stride == 1 && place.delay % stride == 1; }

std::vector<LatticePlace> neighbours_of(const LatticePlace& centre) {
  std::vector<LatticePlace> neighbours;
  for (int hits = centre.hits - 1; hits <= centre.hits + 1; ++hits) {
    for (int delay = centre.delay - 1; delay <= centre.delay + 1; ++delay) {
      const LatticePlace place{hits, delay, centre.law, centre.exposure};
      const bool is_centre = hits == centre.hits && delay == centre.delay;
      if (is_centre || hits < 0 || hits >= hits_count || delay < 0 || delay >= delays_count) continue;
      if (is_distinct(place)) neighbours.push_back(place);
    }
  }
  return neighbours;
}

double log_prior_of(const DurationShape& shape) {
  const auto distinct_shapes = static_cast<double>(lattice_places().size() * jitters.size());
  double prior = std::log((1.0 - undisturbed_prior) / distinct_shapes);
  if (shape.hits >= 1.0) prior -= std::log(exposures.size());
  if (shape.hits > regular_hits) prior += std::log(regular_prior);
  if (is_wide(delay_laws[shape.law])) prior += std::log(wide_law_prior);
  return prior;
}

double log_prior_undisturbed() { return std::log(undisturbed_prior / jitters.size()); }

double log_prior_of_other_work() { return std::log(undisturbed_prior); }

}  // namespace halcyon
