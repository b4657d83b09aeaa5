#include "tests/truth/truth.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "tests/unit/synthetic_profile.hpp"

namespace halcyon::truth {
namespace {

using Random = std::mt19937_64;

constexpr double rank_share_of_jitter = 0.25;
constexpr double normal_delay_deviation = 0.2;  // of the mean
constexpr double lognormal_delay_sigma = 1.0;
constexpr double pareto_exponent = 1.5;
constexpr double longest_pareto = 50.0;  // means

// A factor of mean 1.
double jitter_factor(JitterLaw law, double deviation, Random& random) {
  if (deviation <= 0.0) return 1.0;
  const double variance = deviation * deviation;
  switch (law) {
    case JitterLaw::none: return 1.0;
    case JitterLaw::normal: return 1.0 + deviation * std::normal_distribution<>()(random);
    case JitterLaw::lognormal: {
      const double log_variance = std::log1p(variance);
      return std::exp(std::normal_distribution<>(-0.5 * log_variance, std::sqrt(log_variance))(random));
    }
    case JitterLaw::gamma: return std::gamma_distribution<>(1.0 / variance, variance)(random);
  }
  return 1.0;
}

// A delay of mean 1.
double delay(DelayLaw law, Random& random) {
  switch (law) {
    case DelayLaw::normal: return std::max(0.0, 1.0 + normal_delay_deviation * std::normal_distribution<>()(random));
    case DelayLaw::exponential: return std::exponential_distribution<>()(random);
    case DelayLaw::lognormal: {
      const double sigma = lognormal_delay_sigma;
      return std::exp(std::normal_distribution<>(-0.5 * sigma * sigma, sigma)(random));
    }
    case DelayLaw::pareto: {
      const double shortest = (pareto_exponent - 1.0) / pareto_exponent;
      const double above = 1.0 - std::uniform_real_distribution<>()(random);
      return std::min(shortest * std::pow(above, -1.0 / pareto_exponent), longest_pareto);
    }
  }
  return 1.0;
}

// What one rank loses in a segment.
struct Delayed {
  int rank = 0;
  double seconds = 0.0;
  double in_calls = 0.0;
};

}  // namespace

Truth make_truth(const Run& run) {
  Random random(run.seed);
  Truth truth;
  truth.profile = testing::uniform_profile(run.segments, 0.0, run.ranks);
  Profile& profile = truth.profile;
  profile.command = "truth";

  std::vector<std::size_t> iteration;  // the phase of each segment of one
  profile.sites.clear();
  double shares = 0.0;
  double work = 0.0;
  std::vector<double> work_bins;
  for (std::size_t phase = 0; phase < run.phases.size(); ++phase) {
    iteration.insert(iteration.end(), run.phases[phase].share, phase);
    profile.sites.push_back("allreduce@truth+0x" + std::to_string(10 * (phase + 1)));
    work_bins.push_back(run.phases[phase].seconds * 1e9);
    shares += static_cast<double>(run.phases[phase].share);
    work += static_cast<double>(run.phases[phase].share) * run.phases[phase].seconds;
  }
  const double mean_seconds = work / shares;
  const double mean_delay = run.hits > 0.0 ? mean_seconds * run.slowdown / (1.0 - run.slowdown) / run.hits : 0.0;

  std::uniform_real_distribution<> phase_of_burst(0.0, 1.0);
  const double period = static_cast<double>(run.burst_segments) / run.exposed;
  const double first_burst = phase_of_burst(random) * period;
  std::uniform_int_distribution<int> any_rank(0, run.ranks - 1);
  std::vector<double> imbalance(static_cast<std::size_t>(run.ranks), 1.0);
  std::bernoulli_distribution strikes_a_call(run.in_calls);
  std::exponential_distribution<> slack(1.0);
  std::vector<Delayed> delays;
  testing::column(profile, Feature::sends_nonblocking).bins = {static_cast<double>(run.calls)};
  testing::column(profile, Feature::compute).bins = work_bins;
  double seconds = 0.0;
  for (std::size_t segment = 0; segment < run.segments; ++segment) {
    const std::size_t phase = iteration[segment % iteration.size()];
    const double progress = static_cast<double>(segment) / static_cast<double>(run.segments);
    const double base = run.phases[phase].seconds * (1.0 + run.phases[phase].growth * progress) *
                        jitter_factor(run.jitter_law, run.jitter, random);
    double undisturbed = base;
    if (run.ranks > 1 && run.jitter > 0.0) {
      for (double& factor : imbalance) {
        factor = jitter_factor(run.jitter_law, rank_share_of_jitter * run.jitter, random);
      }
      undisturbed = base * *std::max_element(imbalance.begin(), imbalance.end());
    }
    const double waits = run.slack > 0.0 ? run.slack * base * slack(random) : 0.0;
    undisturbed += waits;

    delays.clear();
    const bool exposed =
        run.exposed >= 1.0 || std::fmod(static_cast<double>(segment) + first_burst, period) < period * run.exposed;
    if (run.hits > 0.0 && exposed) {
      // Longer segments are struck more often: disturbance goes by time.
      const double hits = run.hits / run.exposed * run.phases[phase].seconds / mean_seconds;
      const int count = std::poisson_distribution<>(hits)(random);
      for (int i = 0; i < count; ++i) {
        const int rank = any_rank(random);
        const double length = mean_delay * delay(run.delay_law, random);
        const auto known =
            std::find_if(delays.begin(), delays.end(), [rank](const Delayed& d) { return d.rank == rank; });
        Delayed& delayed = known != delays.end() ? *known : delays.emplace_back(Delayed{.rank = rank});
        delayed.seconds += length;
        if (run.in_calls > 0.0 && strikes_a_call(random)) delayed.in_calls += length;
      }
    }
    double duration = undisturbed;
    double in_calls = 0.0;
    std::uint32_t last = 0;
    for (const Delayed& delayed : delays) {
      const double of_rank = base * imbalance[static_cast<std::size_t>(delayed.rank)] + waits + delayed.seconds;
      if (of_rank > duration) {
        duration = of_rank;
        in_calls = delayed.in_calls;
        last = static_cast<std::uint32_t>(delayed.rank);
      }
    }
    profile.calls_beyond_usual[segment] = static_cast<float>(waits + std::min(in_calls, duration - undisturbed));
    profile.duration[segment] = static_cast<float>(duration);
    profile.last_rank[segment] = last;
    if (run.phases.size() > 1) {
      profile.site.push_back(static_cast<std::uint16_t>(phase));
      testing::column(profile, Feature::compute).index.push_back(static_cast<std::uint16_t>(phase));
    }
    seconds += duration;
    truth.excess_seconds += duration - undisturbed;
  }
  profile.run_time_seconds = seconds;
  profile.rank_run_time.assign(static_cast<std::size_t>(run.ranks), seconds);
  truth.interference_percent = 100.0 * truth.excess_seconds / seconds;
  return truth;
}

}  // namespace halcyon::truth
