#include "tests/truth/truth.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "tests/unit/synthetic_profile.hpp"

namespace halcyon::truth {
namespace {

using Random = std::mt19937_64;

constexpr double rank_share_of_jitter = 0.25;
constexpr double longest_pareto = 50.0;  // means
constexpr std::size_t most_bins = 512;   // of the compute feature, as a profile has
constexpr std::size_t wander_steps = 200;

// Of mean 1.
double lognormal(double sigma, Random& random) {
  return std::exp(std::normal_distribution<>(-0.5 * sigma * sigma, sigma)(random));
}

// A factor of mean 1.
double jitter_factor(JitterLaw law, double deviation, Random& random) {
  if (deviation <= 0.0) return 1.0;
  const double variance = deviation * deviation;
  switch (law) {
    case JitterLaw::none: return 1.0;
    case JitterLaw::normal: return std::max(0.05, 1.0 + deviation * std::normal_distribution<>()(random));
    case JitterLaw::lognormal: return lognormal(std::sqrt(std::log1p(variance)), random);
    case JitterLaw::gamma: return std::gamma_distribution<>(1.0 / variance, variance)(random);
    case JitterLaw::uniform: return 1.0 + deviation * std::sqrt(3.0) * std::uniform_real_distribution<>(-1, 1)(random);
    case JitterLaw::weibull: {
      const double shape = std::pow(deviation, -1.086);  // within 1 % for shapes from 1 to 10, usual in reliability
      return std::weibull_distribution<>(shape, 1.0 / std::tgamma(1.0 + 1.0 / shape))(random);
    }
    case JitterLaw::triangular: {
      std::uniform_real_distribution<> part(-1.0, 1.0);
      return 1.0 + deviation * std::sqrt(1.5) * (part(random) + part(random));
    }
    case JitterLaw::logistic: {
      const double p = std::uniform_real_distribution<>(1e-9, 1.0)(random);
      return std::max(0.05, 1.0 + deviation * std::sqrt(3.0) / std::numbers::pi * std::log(p / (1.0 - p)));
    }
  }
  return 1.0;
}

// A delay of mean 1.
double delay(DelayLaw law, double parameter, Random& random) {
  const auto usual = [parameter](double value) { return parameter > 0.0 ? parameter : value; };
  switch (law) {
    case DelayLaw::normal: return std::max(0.0, 1.0 + usual(0.2) * std::normal_distribution<>()(random));
    case DelayLaw::exponential: return std::exponential_distribution<>()(random);
    case DelayLaw::lognormal: return lognormal(usual(1.0), random);
    case DelayLaw::pareto: {
      const double exponent = usual(1.5);
      const double shortest = (exponent - 1.0) / exponent;
      const double above = 1.0 - std::uniform_real_distribution<>()(random);
      return std::min(shortest * std::pow(above, -1.0 / exponent), longest_pareto);
    }
    case DelayLaw::proportional:
    case DelayLaw::uniform: return std::uniform_real_distribution<>(0.0, 2.0)(random);
    case DelayLaw::weibull: {
      const double shape = usual(1.5);
      return std::weibull_distribution<>(shape, 1.0 / std::tgamma(1.0 + 1.0 / shape))(random);
    }
    case DelayLaw::gamma: return std::gamma_distribution<>(usual(3.0), 1.0 / usual(3.0))(random);
    case DelayLaw::two_point: return std::uniform_real_distribution<>()(random) < 0.8 ? 0.5 : 3.0;
  }
  return 1.0;
}

// How much work each segment of a phase has, in units of the phase's: the program's own.
class Work {
 public:
  explicit Work(const Variation& variation) : variation_(variation) {}

  double next(std::size_t segment, Random& random) {
    const double place = static_cast<double>(segment % variation_.period) / static_cast<double>(variation_.period);
    std::uniform_real_distribution<> either_way(-1.0, 1.0);
    switch (variation_.pattern) {
      case Variation::Pattern::none: return 1.0;
      case Variation::Pattern::random: return 1.0 + variation_.spread * either_way(random);
      case Variation::Pattern::sawtooth: return 1.0 + variation_.spread * (2.0 * place - 1.0);
      case Variation::Pattern::every_so_often: return segment % variation_.period == 0 ? 1.0 + variation_.spread : 1.0;
      case Variation::Pattern::walk:
        walked_ = std::clamp(walked_ + either_way(random) / std::sqrt(static_cast<double>(wander_steps)), -1.0, 1.0);
        return 1.0 + variation_.spread * walked_;
      case Variation::Pattern::wave: return 1.0 + variation_.spread * std::sin(2.0 * std::numbers::pi * place);
      case Variation::Pattern::turns: return place < 0.5 ? 1.0 : 1.0 + variation_.spread;
      case Variation::Pattern::random_turns:
        if (std::bernoulli_distribution(2.0 / static_cast<double>(variation_.period))(random)) is_more_ = !is_more_;
        return is_more_ ? 1.0 + variation_.spread : 1.0;
      case Variation::Pattern::lognormal: return lognormal(variation_.spread, random);
      case Variation::Pattern::steps_up: return segment < variation_.period ? 1.0 : 1.0 + variation_.spread;
    }
    return 1.0;
  }
  double duration_of(double work) const {
    const double above = work - 1.0;
    return 1.0 + (1.0 - variation_.fixed) * (above + variation_.curvature * above * above);
  }

 private:
  Variation variation_;
  double walked_ = 0.0;
  bool is_more_ = false;
};

// How much more slowly the machine computes, in the order of time.
class SlowMachine {
 public:
  SlowMachine(const Speed& speed, double run_seconds, Random& random) : speed_(speed), run_seconds_(run_seconds) {
    phase_ = std::uniform_real_distribution<>()(random);
    is_slow_ = std::uniform_real_distribution<>()(random) < speed.slow_share;
    until_ = dwell(random);
  }

  double at(double seconds, Random& random) {
    const double period = 2.0 * speed_.dwell_seconds;
    switch (speed_.pattern) {
      case Speed::Pattern::constant: return 1.0;
      case Speed::Pattern::random_switching:
        while (seconds >= until_) {
          is_slow_ = !is_slow_;
          until_ += dwell(random);
        }
        return is_slow_ ? speed_.factor : 1.0;
      case Speed::Pattern::periodic_switching: {
        const double place = seconds / period + phase_;
        return place - std::floor(place) < speed_.slow_share ? speed_.factor : 1.0;
      }
      case Speed::Pattern::wave:
        return 1.0 +
               (speed_.factor - 1.0) * 0.5 * (1.0 + std::sin(2.0 * std::numbers::pi * (seconds / period + phase_)));
      case Speed::Pattern::walk:
        while (seconds >= stepped_) {
          stepped_ += run_seconds_ / static_cast<double>(wander_steps);
          walked_ = std::abs(walked_ + std::normal_distribution<>(0.0, 0.1)(random));
          if (walked_ > 1.0) walked_ = 2.0 - walked_;
        }
        return 1.0 + (speed_.factor - 1.0) * walked_;
      case Speed::Pattern::changes_once:
        return seconds < (1.0 - speed_.slow_share) * run_seconds_ ? 1.0 : speed_.factor;
      // Linear in time. What is slowed takes longer, so that the end comes later than after run_seconds_.
      case Speed::Pattern::slows_down: return 1.0 + std::log(speed_.factor) * seconds / run_seconds_;
    }
    return 1.0;
  }

 private:
  double dwell(Random& random) const {
    const double share = is_slow_ ? speed_.slow_share : 1.0 - speed_.slow_share;
    return std::exponential_distribution<>(1.0 / (2.0 * share * speed_.dwell_seconds))(random);
  }

  Speed speed_;
  double run_seconds_;
  double phase_ = 0.0;
  bool is_slow_ = false;
  double until_ = 0.0;
  double stepped_ = 0.0;
  double walked_ = 0.5;
};

// When daemons wake up.
class Clockwork {
 public:
  Clockwork(const std::vector<Daemon>& daemons, Random& random) : daemons_(daemons) {
    for (const Daemon& daemon : daemons) {
      wakes_.push_back(daemon.period * std::uniform_real_distribution<>()(random));
    }
  }

  /// The one that wakes up next, if it does so before this time; else null.
  const Daemon* next_before(double seconds) {
    const auto next = std::min_element(wakes_.begin(), wakes_.end());
    if (next == wakes_.end() || *next >= seconds) return nullptr;
    const Daemon& daemon = daemons_[static_cast<std::size_t>(next - wakes_.begin())];
    *next += daemon.period;
    return &daemon;
  }

 private:
  std::vector<Daemon> daemons_;
  std::vector<double> wakes_;  // s from the start of the run
};

// Bins of a compute feature as the recorder makes them, at most so many.
void put_into_bins(const std::vector<double>& values, FeatureColumn& column) {
  std::vector<double> ascending = values;
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  column.bins.clear();
  if (ascending.size() <= most_bins) {
    column.bins = ascending;
  } else {
    // Relative distances are what counts, so that bins are alike in them.
    const double step = std::log(ascending.back() / ascending.front()) / static_cast<double>(most_bins - 1);
    for (std::size_t bin = 0; bin < most_bins; ++bin) {
      column.bins.push_back(ascending.front() * std::exp(step * static_cast<double>(bin)));
    }
  }
  for (const double value : values) {
    auto above = std::lower_bound(column.bins.begin(), column.bins.end(), value);
    if (above == column.bins.end() || (above != column.bins.begin() && value - above[-1] < *above - value)) --above;
    column.index.push_back(static_cast<std::uint16_t>(above - column.bins.begin()));
  }
}

// What one thread loses in a segment. The first one of a rank calls MPI.
struct Delayed {
  int rank = 0;
  int thread = 0;
  double seconds = 0.0;
  double in_calls = 0.0;
};

// One rank in a segment.
struct RankInSegment {
  double work = 1.0;       // as a share of the usual
  double imbalance = 1.0;  // of its duration
  double delay = 0.0;      // of the thread with the longest one, s
  double own_delay = 0.0;  // of the thread that calls MPI, s

  double spun() const { return delay - own_delay; }
};

// What each rank counts, of work that takes so many seconds on each of them.
std::vector<double> counted_on(const std::vector<RankInSegment>& ranks, const Run& run, double seconds) {
  std::vector<double> values;
  for (const RankInSegment& rank : ranks) {
    double beside = 0.0;
    if (run.counter == Counter::instructions) beside = rank.spun();
    if (run.counter == Counter::cpu_time && run.delays_use_cpu) beside = rank.delay;
    values.push_back(1e9 * (seconds * rank.work + beside));
  }
  return values;
}

// Over ranks, as the recorder makes it.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]);
}

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
    // Half of the segment, in ns: what a machine surely needs must not tell how long a segment takes without jitter.
    work_bins.push_back(run.phases[phase].seconds * 0.5e9);
    shares += static_cast<double>(run.phases[phase].share);
    work += static_cast<double>(run.phases[phase].share) * run.phases[phase].seconds;
  }
  const double mean_seconds = work / shares;
  const double mean_delay = run.hits > 0.0 ? mean_seconds * run.slowdown / (1.0 - run.slowdown) / run.hits : 0.0;

  std::uniform_real_distribution<> phase_of_burst(0.0, 1.0);
  const double period = static_cast<double>(run.burst_segments) / run.exposed;
  const double first_burst = phase_of_burst(random) * period;
  const int struck_ranks = run.disturbed_ranks > 0 ? run.disturbed_ranks : run.ranks;
  std::uniform_int_distribution<int> any_thread(0, struck_ranks * run.threads - 1);
  std::uniform_real_distribution<> either_way(-1.0, 1.0);
  std::vector<RankInSegment> ranks(static_cast<std::size_t>(run.ranks));
  const double rank_jitter = run.ranks > 1 ? rank_share_of_jitter * run.jitter : 0.0;
  std::bernoulli_distribution strikes_a_call(run.in_calls);
  std::exponential_distribution<> slack(1.0);
  std::vector<Delayed> delays;
  testing::column(profile, Feature::sends_nonblocking).bins = {static_cast<double>(run.calls)};
  testing::column(profile, Feature::compute).bins = work_bins;
  if (run.counter == Counter::instructions) profile.counter = "papi:PAPI_TOT_INS";

  // Draws of their own, so that what they are for changes no run without it.
  Random of_work(run.seed + 1);
  Random of_speed(run.seed + 2);
  Random of_counter(run.seed + 3);
  Random of_daemons(run.seed + 4);
  std::vector<Work> works;
  for (const Phase& phase : run.phases) works.emplace_back(phase.varies ? run.variation : Variation{});
  std::vector<std::size_t> done(run.phases.size(), 0);
  SlowMachine machine(run.speed, mean_seconds * static_cast<double>(run.segments), of_speed);
  Clockwork clockwork(run.daemons, of_daemons);
  std::bernoulli_distribution is_other(run.other_kind.share);
  std::vector<double> counted;
  std::vector<double> counted_most;  // on any rank
  std::vector<double> spun(ranks.size(), 0.0);
  double stolen = 0.0;
  double wandered = 0.0;

  double seconds = 0.0;
  for (std::size_t segment = 0; segment < run.segments; ++segment) {
    const std::size_t phase = iteration[segment % iteration.size()];
    const double progress = static_cast<double>(segment) / static_cast<double>(run.segments);
    const double amount = works[phase].next(done[phase]++, of_work);
    const double other = is_other(of_work) ? 1.0 + run.other_kind.longer : 1.0;
    double jitter = 0.0;
    if (run.jitter_correlation > 0.0) {
      const double fresh = std::sqrt(1.0 - run.jitter_correlation * run.jitter_correlation);
      wandered = run.jitter_correlation * wandered + fresh * std::normal_distribution<>()(random);
      jitter = std::exp(run.jitter * wandered);
    } else {
      jitter = jitter_factor(run.jitter_law, run.jitter, random);
    }
    const double at_full_speed = run.phases[phase].seconds * (1.0 + run.phases[phase].growth * progress) *
                                 works[phase].duration_of(amount) * other * jitter;
    const double slowed = progress < run.disturbed_from ? 1.0 : machine.at(seconds, of_speed);
    const double base = at_full_speed * slowed;
    for (RankInSegment& rank : ranks) {
      rank = {};
      if (&rank == &ranks.front()) rank.work += run.late_rank;
      if (run.rank_spread > 0.0) rank.work += run.rank_spread * either_way(of_work);
      rank.imbalance = rank.work * jitter_factor(run.jitter_law, rank_jitter, random);
    }
    const auto slowest = std::ranges::max_element(ranks, {}, &RankInSegment::imbalance);
    const double slowest_imbalance = slowest->imbalance;
    const double waits = run.slack > 0.0 ? run.slack * base * slack(random) : 0.0;
    const double undisturbed = at_full_speed * slowest_imbalance + waits;
    const double without_delays = base * slowest_imbalance + waits;

    delays.clear();
    // Returns what the struck thread has lost so far.
    const auto strike = [&](double mean, Random& by) {
      const int which = any_thread(by);
      double length = mean * delay(run.delay_law, run.delay_parameter, by);
      if (run.delay_law == DelayLaw::proportional) length *= base / mean_seconds;
      const int rank = which / run.threads;
      const int thread = which % run.threads;
      const auto known = std::ranges::find_if(
          delays, [&](const Delayed& delayed) { return delayed.rank == rank && delayed.thread == thread; });
      Delayed& delayed = known != delays.end() ? *known : delays.emplace_back(Delayed{.rank = rank, .thread = thread});
      delayed.seconds += length;
      if (run.in_calls > 0.0 && strikes_a_call(by)) delayed.in_calls += length;
      return delayed.seconds;
    };
    const bool exposed =
        progress >= run.disturbed_from &&
        (run.exposed >= 1.0 || std::fmod(static_cast<double>(segment) + first_burst, period) < period * run.exposed);
    if (run.hits > 0.0 && exposed && run.phases[phase].is_struck) {
      // Longer segments are struck more often: disturbance goes by time.
      const double hits = run.hits / run.exposed * run.phases[phase].seconds / mean_seconds;
      const int count = std::poisson_distribution<>(hits)(random);
      for (int i = 0; i < count; ++i) strike(mean_delay, random);
    }
    // While one daemon delays the segment, others wake up.
    double longest = 0.0;
    while (const Daemon* daemon = clockwork.next_before(seconds + without_delays + longest)) {
      if (progress >= run.disturbed_from) longest = std::max(longest, strike(daemon->seconds, of_daemons));
    }
    double duration = without_delays;
    double in_calls = 0.0;
    auto last = static_cast<std::uint32_t>(slowest - ranks.begin());
    for (const Delayed& delayed : delays) {
      RankInSegment& rank = ranks[static_cast<std::size_t>(delayed.rank)];
      rank.delay = std::max(rank.delay, delayed.seconds);
      if (delayed.thread == 0) rank.own_delay = delayed.seconds;
      const double of_rank = base * rank.imbalance + waits + delayed.seconds;
      if (of_rank > duration) {
        duration = of_rank;
        in_calls = delayed.in_calls;
        last = static_cast<std::uint32_t>(delayed.rank);
      }
    }
    profile.calls_beyond_usual[segment] = static_cast<float>(waits + std::min(in_calls, duration - without_delays));
    profile.duration[segment] = static_cast<float>(duration);
    profile.last_rank[segment] = last;
    if (run.phases.size() > 1) profile.site.push_back(static_cast<std::uint16_t>(phase));
    if (run.counter == Counter::simple) {
      if (run.phases.size() > 1) {
        testing::column(profile, Feature::compute).index.push_back(static_cast<std::uint16_t>(phase));
      }
    } else {
      const double seen = run.phases[phase].seconds * (1.0 + run.phases[phase].growth * progress) *
                          (run.variation.is_counted ? amount : 1.0);
      const double noise = 1.0 + run.counter_noise * std::normal_distribution<>()(of_counter);
      std::vector<double> of_ranks = counted_on(ranks, run, run.counter == Counter::instructions ? seen : base);
      counted_most.push_back(noise * std::ranges::max(of_ranks));
      counted.push_back(noise * median_of(std::move(of_ranks)));
    }
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) spun[rank] += ranks[rank].spun();
    for (const RankInSegment& rank : ranks) stolen += rank.delay;
    seconds += duration;
    truth.excess_seconds += duration - undisturbed;
  }
  if (!counted.empty()) put_into_bins(counted, testing::column(profile, Feature::compute));
  if (!counted.empty() && run.ranks > 1) put_into_bins(counted_most, profile.largest_work);
  if (run.threads > 1) {
    profile.evidence[index_of(Evidence::busy_threads)].assign(ranks.size(), static_cast<double>(run.threads));
    if (run.counter == Counter::cpu_time) profile.evidence[index_of(Evidence::work_beyond_least)] = spun;
  }
  if (run.is_theft_told) profile.evidence[index_of(Evidence::steal)].assign(ranks.size(), stolen);
  profile.run_time_seconds = seconds;
  profile.rank_run_time.assign(static_cast<std::size_t>(run.ranks), seconds);
  truth.interference_percent = 100.0 * truth.excess_seconds / seconds;
  return truth;
}

}  // namespace halcyon::truth
