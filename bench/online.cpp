// How near the estimates of a running program come, on simulated queues and runs whose truth is known, as Markdown
// tables for docs/watch.md. Never passes or fails.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

#include "analyzer/online/phase_rate.hpp"
#include "analyzer/online/service_rate.hpp"
#include "analyzer/online/sign_test.hpp"
#include "analyzer/statistics/quantile.hpp"
#include "analyzer/watch/watched_job.hpp"
#include "tests/truth/running_job.hpp"

namespace {

using namespace halcyon;

// One server behind a queue of limited size. Arrivals are Poisson, and wait outside while it is full.
struct Queue {
  bool is_exponential = true;  // service, else all of the same length
  double utilization = 0.8;    // arrivals over services
  double per_period = 64.0;    // services in a sampling period, of a server that is never idle
  std::size_t capacity = 64;
};

// Samples of the server. The first phase has a rate of 1 unit/s, the second one of `second`.
class SimulatedQueue {
 public:
  SimulatedQueue(const Queue& queue, std::uint64_t seed) : queue_(queue), random_(seed) {}

  void set_rate(double rate) { rate_ = rate; }

  RateSample next(double period) {
    // The sampler sleeps a little too long, and sometimes much too long.
    std::exponential_distribution<double> late(1.0);
    const bool is_preempted = std::bernoulli_distribution(0.02)(random_);
    const double seconds = period * (1.0 + 0.003 * late(random_) + (is_preempted ? 0.5 * late(random_) : 0.0));
    const double end = now_ + seconds;
    RateSample sample{.seconds = seconds};
    bool was_idle = waiting_ == 0;
    for (;;) {
      const bool serves = waiting_ > 0;
      const double event = serves ? std::min(arrives_, leaves_) : arrives_;
      if (event > end) break;
      if (event == arrives_) {
        arrives_ += std::exponential_distribution<double>(queue_.utilization * rate_)(random_);
        if (waiting_ == queue_.capacity) continue;  // turned away
        if (waiting_++ == 0) leaves_ = event + service();
      } else {
        sample.units += 1.0;
        if (--waiting_ > 0) {
          leaves_ = event + service();
        } else {
          was_idle = true;
        }
      }
    }
    now_ = end;
    sample.is_blocked = was_idle || waiting_ == 0;
    return sample;
  }

 private:
  double service() {
    return queue_.is_exponential ? std::exponential_distribution<double>(rate_)(random_) : 1.0 / rate_;
  }

  Queue queue_;
  std::mt19937_64 random_;
  double rate_ = 1.0;
  double now_ = 0.0;
  double arrives_ = 0.0;
  double leaves_ = 0.0;
  std::size_t waiting_ = 0;
};

struct Tally {
  std::vector<double> off_percent;  // of estimates from the truth
  std::size_t found = 0;            // both phases within 20 %, or the second one
  std::size_t runs = 0;

  void add(std::optional<double> estimate, double truth) {
    ++runs;
    if (estimate) off_percent.push_back(100.0 * (*estimate / truth - 1.0));
  }
  std::string within(double percent) const {
    const auto near = std::count_if(off_percent.begin(), off_percent.end(),
                                    [percent](double off) { return std::abs(off) <= percent; });
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(near) / static_cast<double>(runs));
  }
  std::string median_off() const {
    return off_percent.empty() ? "none" : fmt::format("{:+.1f} %", quantile(off_percent, 0.5));
  }
};

constexpr std::size_t samples_of_a_phase = 2000;

void one_phase(std::size_t runs) {
  fmt::print(
      "| service | utilization | services a period | the paper's within 20 % | within 5 % | median off | ours within "
      "20 % | within 5 % | median off |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const bool is_exponential : {false, true}) {
    for (const double utilization : {0.5, 0.8, 0.95, 1.2}) {
      for (const double per_period : {4.0, 16.0, 64.0}) {
        Tally theirs;
        Tally ours;
        for (std::size_t run = 0; run < runs; ++run) {
          SimulatedQueue queue({is_exponential, utilization, per_period}, run + 1);
          ServiceRate paper(per_period);
          PhaseRate phase;
          for (std::size_t i = 0; i < samples_of_a_phase; ++i) {
            const RateSample sample = queue.next(per_period);
            paper.add(sample);
            phase.add(sample);
          }
          theirs.add(paper.stable() ? paper.stable() : paper.current(), 1.0);
          ours.add(phase.rate(), 1.0);
        }
        fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", is_exponential ? "exponential" : "deterministic",
                   utilization, per_period, theirs.within(20.0), theirs.within(5.0), theirs.median_off(),
                   ours.within(20.0), ours.within(5.0), ours.median_off());
      }
    }
  }
}

void two_phases(std::size_t runs) {
  fmt::print(
      "\n| service | utilization | second rate | the paper finds the second phase | both | ours finds the second phase "
      "| both |\n|---|---|---|---|---|---|---|\n");
  constexpr double per_period = 64.0;
  for (const bool is_exponential : {false, true}) {
    for (const double utilization : {0.8, 1.2}) {
      for (const double second : {0.5, 0.7, 1.5}) {
        std::array<std::size_t, 4> found{};
        for (std::size_t run = 0; run < runs; ++run) {
          SimulatedQueue queue({is_exponential, utilization, per_period}, run + 1);
          ServiceRate paper(per_period);
          PhaseRate phase;
          // A phase is found if the estimate lies nearer to its rate than half of the way to the other one.
          const auto near = [second](std::optional<double> estimate, double truth) {
            return estimate && std::abs(*estimate - truth) < 0.5 * std::abs(1.0 - second);
          };
          std::array<bool, 2> first{};
          for (std::size_t i = 0; i < 2 * samples_of_a_phase; ++i) {
            if (i == samples_of_a_phase) {
              first = {near(paper.stable() ? paper.stable() : paper.current(), 1.0), near(phase.rate(), 1.0)};
              queue.set_rate(second);
            }
            const RateSample sample = queue.next(per_period);
            paper.add(sample);
            phase.add(sample);
          }
          const bool theirs = near(paper.stable() ? paper.stable() : paper.current(), second);
          const bool ours = near(phase.rate(), second);
          found[0] += theirs ? 1 : 0;
          found[1] += theirs && first[0] ? 1 : 0;
          found[2] += ours ? 1 : 0;
          found[3] += ours && first[1] ? 1 : 0;
        }
        const auto share = [runs](std::size_t count) {
          return fmt::format("{:.0f} %", 100.0 * static_cast<double>(count) / static_cast<double>(runs));
        };
        fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", is_exponential ? "exponential" : "deterministic",
                   utilization, second, share(found[0]), share(found[1]), share(found[2]), share(found[3]));
      }
    }
  }
}

// A sample a second, each below its target by chance 1/2: the most that a quiet run can show.
void false_alarms(std::size_t runs) {
  fmt::print("\n| time | alarms, alpha at each look | alarms, alpha spent over looks |\n|---|---|---|\n");
  constexpr std::size_t day = 86'400;
  const std::vector<std::pair<std::string_view, std::size_t>> times{
      {"1 min", 60}, {"10 min", 600}, {"1 h", 3'600}, {"1 d", day}, {"7 d", 7 * day}};
  std::array<std::vector<std::size_t>, 2> first_alarm;
  for (std::size_t run = 0; run < runs; ++run) {
    for (const bool spends : {false, true}) {
      std::mt19937_64 random(run + 1);
      SignTest test({.spends_alpha = spends});
      std::size_t at = 0;
      while (at < times.back().second && test.add((random() >> 63) != 0) != Judgment::poor) ++at;
      first_alarm[spends ? 1 : 0].push_back(at);
    }
  }
  for (const auto& [name, samples] : times) {
    const auto share = [&, most = samples](const std::vector<std::size_t>& alarms) {
      const auto early = std::count_if(alarms.begin(), alarms.end(), [most](std::size_t at) { return at < most; });
      return 100.0 * static_cast<double>(early) / static_cast<double>(runs);
    };
    fmt::print("| {} | {:.1f} % | {:.1f} % |\n", name, share(first_alarm[0]), share(first_alarm[1]));
  }

  fmt::print(
      "\n| quiet for | chance below the target | alpha at each look | alpha spent: samples to the alarm |\n"
      "|---|---|---|---|\n");
  for (const auto& [name, samples] : times) {
    for (const double chance : {0.75, 0.9, 1.0}) {
      std::array<std::vector<double>, 2> delays;
      for (std::size_t run = 0; run < std::min<std::size_t>(runs, 50); ++run) {
        for (const bool spends : {false, true}) {
          std::mt19937_64 random(run + 1);
          SignTest test({.spends_alpha = spends});
          for (std::size_t i = 0; i < samples; ++i) test.add((random() >> 63) != 0);
          std::bernoulli_distribution below(chance);
          std::size_t more = 1;
          while (test.add(below(random)) != Judgment::poor) ++more;
          delays[spends ? 1 : 0].push_back(static_cast<double>(more));
        }
      }
      fmt::print("| {} | {} | {:.0f} | {:.0f} |\n", name, chance, quantile(delays[0], 0.5), quantile(delays[1], 0.5));
    }
  }
}

// What `halcyon watch` says of quiet runs: one look a second, segments of 0.1 s, and a speed that wanders by itself.
void quiet_runs(std::size_t runs, double hours) {
  fmt::print(
      "\n| jitter of a segment | wandering speed | called slower than usual | interference at the end | interval "
      "ever above 7.5 % |\n|---|---|---|---|---|\n");
  for (const double jitter : {0.005, 0.05}) {
    for (const double drift : {0.0, 0.02}) {
      std::size_t called = 0;
      std::size_t above = 0;
      std::vector<double> percent;
      for (std::size_t run = 0; run < runs; ++run) {
        truth::RunningJob job(1, 0.1);
        job.random.seed(run + 1);
        job.jitter = jitter;
        job.drift = drift;
        WatchedJob watched;
        bool is_called = false;
        bool is_above = false;
        for (int look = 0; look < static_cast<int>(3600.0 * hours); ++look) {
          job.run(1.0);
          watched.look(job.now);
          is_called = is_called || watched.view().is_slower_than_usual;
          is_above =
              is_above || (watched.view().interference && watched.view().interference->interval_percent.low > 7.5);
        }
        called += is_called ? 1 : 0;
        above += is_above ? 1 : 0;
        percent.push_back(watched.view().interference->percent);
      }
      fmt::print("| {:.1f} % | {:.1f} % | {} of {} | {:.1f} % | {} of {} |\n", 100.0 * jitter, 100.0 * drift, called,
                 runs, quantile(percent, 0.5), above, runs);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program{"Prints how near the estimates of a running program come, on simulated queues and runs"};
  std::size_t runs = 100;
  program.add_option("--runs", runs, "Of each row. Default: 100");
  double hours = 24.0;
  std::size_t quiet = 20;
  program.add_option("--quiet-runs", quiet, "Quiet runs of each row. Default: 20");
  program.add_option("--hours", hours, "That they last. Default: 24");
  CLI11_PARSE(program, argc, argv);
  one_phase(runs);
  two_phases(runs);
  false_alarms(runs);
  quiet_runs(quiet, hours);
}
