#include "analyzer/estimate/explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "analyzer/estimate/law_fit.hpp"
#include "analyzer/estimate/law_lattice.hpp"
#include "analyzer/estimate/other_work.hpp"

namespace halcyon {
namespace {

// Numerics: how far shapes are searched.
constexpr std::size_t most_promising = 40;  // places
constexpr double worth_every_jitter = 7.0;  // nats behind the best
constexpr double negligible = 16.0;         // nats behind the best, whatever other groups say

constexpr double tolerated_dispersion = 1.2;  // that a law which is right may have by chance

// Fits shapes to one group and keeps what came of them.
class Search {
 public:
  Search(const Cells& cells, DurationLaws& laws, double wide_jitter, bool may_be_two_kinds)
      : cells_(cells), weighing_{temper_of(cells), {wide_jitter}}, laws_(laws), may_be_two_kinds_(may_be_two_kinds) {}

  std::vector<Explanation> run() {
    search();
    // Where no law is right, the advantage of one over another says less (quasi-likelihood).
    if (const double dispersion = dispersion_of_best(); dispersion > tolerated_dispersion) {
      weighing_.temper /= dispersion;
      best_ = -1e300;
      fits_.clear();
      found_.clear();
      search();
    }
    return explanations();
  }

 private:
  struct Found {
    LatticePlace place;
    LawFit fit;
  };

  void search() {
    double best_evidence = -1e300;
    for (const Jitter jitter : jitters) {
      const DurationShape undisturbed{.hits = 0.0, .jitter = jitter};
      const FitStart start = rough_start(laws_.get(undisturbed), cells_);
      const LawFit found = fit(undisturbed, log_prior_undisturbed(), start);
      if (found.evidence > best_evidence) first_jitter_ = jitter;
      best_evidence = std::max(best_evidence, found.evidence);
    }
    look_at_every_third();
    look_around_the_promising();
    vary_the_jitter();
    if (may_be_two_kinds_) other_work_ = fit_other_work(cells_, weighing_.jitter, weighing_.temper);
  }

  double other_work_evidence() const {
    return other_work_ ? other_work_->evidence + log_prior_of_other_work() : -1e300;
  }

  double dispersion_of_best() {
    if (other_work_evidence() > best_) return 1.0;
    const auto best = std::max_element(
        fits_.begin(), fits_.end(), [](const auto& a, const auto& b) { return a.second.evidence < b.second.evidence; });
    const auto& [shape, fit] = *best;
    // A law cannot explain the steps of a clock.
    return is_told_from_clock(fit, cells_) ? dispersion_of(fit, laws_.get(shape), cells_, weighing_) : 1.0;
  }

  LawFit fit(const DurationShape& shape, double prior, FitStart start) {
    LawFit result = fit_law(laws_.get(shape), cells_, weighing_, best_, start);
    result.evidence += prior;
    best_ = std::max(best_, result.evidence);
    fits_.emplace_back(shape, result);
    return result;
  }
  LawFit fit(const LatticePlace& place, Jitter jitter, FitStart start) {
    const DurationShape shape = shape_at(place, jitter);
    return fit(shape, log_prior_of(shape), start);
  }

  void look_at_every_third() {
    for (const LatticePlace& place : lattice_places()) {
      if (!is_of_first_look(place)) continue;
      const DurationLaw& law = laws_.get(shape_at(place, first_jitter_));
      found_.push_back({place, fit(place, first_jitter_, rough_start(law, cells_))});
    }
  }

  void look_around_the_promising() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.fit.evidence > b.fit.evidence; });
    const std::size_t centres = std::min(most_promising, found_.size());
    for (std::size_t i = 0; i < centres && found_[i].fit.evidence > best_ - negligible; ++i) {
      const Found centre = found_[i];
      for (const LatticePlace& place : neighbours_of(centre.place)) {
        found_.push_back({place, fit(place, first_jitter_, {centre.fit.baseline, centre.fit.scale})});
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
      // The added time is the mean duration less b (1 + mean jitter of these segments). That mean is the best possible
      // estimate of b. An efficient estimate differs from another by the difference of their variances (Hausman 1978).
      const double of_mean_jitter = fit.scale * fit.scale / (weighing_.temper * cells_.segments);
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

  const Cells& cells_;
  Weighing weighing_;
  DurationLaws& laws_;
  bool may_be_two_kinds_;
  double best_ = -1e300;
  std::vector<std::pair<DurationShape, LawFit>> fits_;
  Jitter first_jitter_ = jitters.front();  // explains the group best without delays
  std::vector<Found> found_;               // with the first kind of jitter
  std::optional<OtherWork> other_work_;
};

}  // namespace

bool adds_time(const DurationShape& shape) { return shape.hits > 0.0 || shape.jitter == Jitter::spiked; }

std::vector<Explanation> explain(const Cells& cells, DurationLaws& laws, double wide_jitter, bool may_be_two_kinds) {
  return Search(cells, laws, wide_jitter, may_be_two_kinds).run();
}

}  // namespace halcyon
