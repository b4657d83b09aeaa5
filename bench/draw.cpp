#include "bench/draw.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halcyon::bench {

using truth::Counter;
using truth::DelayLaw;
using truth::JitterLaw;
using truth::Run;

double Draw::log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }

double run_seconds(const Run& run) {
  double seconds = 0.0;
  double shares = 0.0;
  for (const truth::Phase& phase : run.phases) {
    seconds += static_cast<double>(phase.share) * phase.seconds;
    shares += static_cast<double>(phase.share);
  }
  return seconds / shares * static_cast<double>(run.segments);
}

Run program_of(std::vector<truth::Phase> phases, std::size_t iterations, Draw& draw, Counter counter) {
  constexpr double least_seconds = 1.5;  // to be judged
  Run run;
  run.phases = std::move(phases);
  run.segments = 0;
  for (const truth::Phase& phase : run.phases) run.segments += iterations * phase.share;
  const double longer = std::max(1.0, least_seconds / run_seconds(run));
  for (truth::Phase& phase : run.phases) phase.seconds *= longer;
  run.counter = counter;
  run.counter_noise = counter == Counter::cpu_time ? draw.uniform(0.002, 0.01) : draw.uniform(0.0005, 0.005);
  run.jitter_law = draw.one_of({JitterLaw::normal, JitterLaw::lognormal, JitterLaw::gamma});
  run.jitter = draw.uniform(0.005, 0.03);
  run.seed = draw.random();
  return run;
}

Run program(Draw& draw, Counter counter) {
  const int groups = draw.one_of({1, 1, 2, 3, 6});
  std::vector<truth::Phase> phases;
  for (int group = 0; group < groups; ++group) {
    phases.push_back({draw.one_of<std::size_t>({1, 1, 2, 4}), draw.log_uniform(3e-4, 6e-3)});
  }
  const auto iterations = static_cast<std::size_t>(draw.log_uniform(200, groups > 2 ? 1500 : 5000));
  return program_of(std::move(phases), iterations, draw, counter);
}

void delay_by(Run& run, Draw& draw, DelayLaw law, double parameter, double fewest, double most) {
  run.delay_law = law;
  run.delay_parameter = parameter;
  run.hits = draw.log_uniform(fewest, most);
  run.slowdown = draw.uniform(0.01, 0.45);
}

DelayLaw usual_delay(Draw& draw) {
  return draw.one_of({DelayLaw::normal, DelayLaw::exponential, DelayLaw::lognormal, DelayLaw::pareto});
}

void delay_as_usual(Run& run, Draw& draw) { delay_by(run, draw, usual_delay(draw), 0.0, 0.05, 4.0); }

Run delayed(Draw& draw, Counter counter) {
  Run run = program(draw, counter);
  delay_as_usual(run, draw);
  return run;
}

Counter either(Draw& draw) { return draw.one_of({Counter::instructions, Counter::cpu_time}); }

}  // namespace halcyon::bench
