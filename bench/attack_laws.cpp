// Laws on which the default estimator was attacked, with other seeds and kinds than those of docs/accuracy.md.
#include <algorithm>

#include "bench/laws.hpp"

namespace halcyon::bench {
namespace {
using truth::Counter;
using truth::DelayLaw;
using truth::JitterLaw;
using truth::Run;
using truth::Speed;
using truth::Variation;

// By a time slice: all of one length.
void delay_equally(Run& run, Draw& draw) {
  run.delay_law = DelayLaw::normal;
  run.delay_parameter = 0.02;
  run.hits = draw.log_uniform(0.02, 0.6);
  const double share = run.hits * draw.uniform(0.1, 0.95);
  run.slowdown = share / (1 + share);
}
Run with_daemon_and_switching(Draw& draw, Counter counter) {
  Run run = program(draw, counter);
  const double period = draw.log_uniform(5e-3, 0.1);
  run.delay_law = DelayLaw::normal;
  run.daemons.push_back({period, period * draw.uniform(0.01, 0.2)});
  run.speed = {.pattern = Speed::Pattern::random_switching,
               .factor = draw.uniform(1.1, 1.6),
               .dwell_seconds = std::min(draw.log_uniform(0.05, 5.0), 0.1 * run_seconds(run)),
               .slow_share = draw.uniform(0.2, 0.8)};
  return run;
}
Run few_units(Draw& draw) {
  const int groups = draw.one_of({1, 1, 2, 4});
  std::vector<truth::Phase> phases;
  for (int group = 0; group < groups; ++group) phases.push_back({1, draw.log_uniform(5e-3, 5e-2)});
  return program_of(std::move(phases), 25, draw, either(draw));
}
Run many_groups(Draw& draw) {
  std::vector<truth::Phase> phases;
  for (int group = 0; group < draw.one_of({2, 3, 5}); ++group)
    phases.push_back({draw.one_of<std::size_t>({1, 2, 4}), draw.log_uniform(3e-4, 6e-3)});
  return program_of(std::move(phases), static_cast<std::size_t>(draw.log_uniform(200, 2000)), draw, either(draw));
}
Run step_up(Draw& draw, bool counted) {
  Run run = many_groups(draw);
  if (!counted) run.counter = draw.one_of({Counter::instructions, Counter::simple});
  std::size_t shares = 0;
  for (auto& phase : run.phases) {
    phase.varies = false;
    shares += phase.share;
  }
  auto& phase = run.phases[std::uniform_int_distribution<std::size_t>(0, run.phases.size() - 1)(draw.random)];
  phase.varies = true;
  run.variation = {.pattern = Variation::Pattern::steps_up,
                   .spread = draw.uniform(0.8, 1.2),
                   .period = run.segments / shares * phase.share / 2,
                   .is_counted = counted};
  return run;
}
}  // namespace

const std::vector<Law> attack_laws{
    {"equal delays (+- 2 %, a time slice), 0.02-0.6 a segment, of 10-95 % of it",
     [](Draw& draw) {
       Run run = program_of({{1, draw.log_uniform(2e-3, 2e-2)}}, static_cast<std::size_t>(draw.log_uniform(200, 3000)),
                            draw, either(draw));
       delay_equally(run, draw);
       return run;
     }},
    {"the same, 2-4 groups",
     [](Draw& draw) {
       std::vector<truth::Phase> phases;
       const int n = draw.one_of({2, 3, 4});
       for (int i = 0; i < n; ++i) phases.push_back({1, draw.log_uniform(3e-3, 2e-2)});
       Run run =
           program_of(std::move(phases), static_cast<std::size_t>(draw.log_uniform(100, 1500)), draw, either(draw));
       delay_equally(run, draw);
       return run;
     }},
    {"jitter with long memory (0.97-0.998), 2-10 %, quiet",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.jitter = draw.log_uniform(0.02, 0.1);
       run.jitter_correlation = draw.uniform(0.97, 0.998);
       return run;
     }},
    {"the same, delays",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.jitter = draw.log_uniform(0.02, 0.1);
       run.jitter_correlation = draw.uniform(0.97, 0.998);
       return run;
     }},
    {"daemon and speed switching, instructions",
     [](Draw& draw) { return with_daemon_and_switching(draw, Counter::instructions); }},
    {"the same, CPU time", [](Draw& draw) { return with_daemon_and_switching(draw, Counter::cpu_time); }},
    {"few long and many short delays at once",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.hits = draw.log_uniform(4, 16);
       run.daemons.push_back({0.1 * run_seconds(run), 0.1 * run_seconds(run) * draw.uniform(0.02, 0.3)});
       return run;
     }},
    {"delays that hit only one of 2-5 groups",
     [](Draw& draw) {
       Run run = many_groups(draw);
       delay_as_usual(run, draw);
       for (auto& phase : run.phases) phase.is_struck = false;
       run.phases[std::uniform_int_distribution<std::size_t>(0, run.phases.size() - 1)(draw.random)].is_struck = true;
       return run;
     }},
    {"delays proportional to the duration, 1-16",
     [](Draw& draw) {
       Run run = many_groups(draw);
       delay_by(run, draw, DelayLaw::proportional, 0.0, 1.0, 16.0);
       return run;
     }},
    {"25 units, quiet", [](Draw& draw) { return few_units(draw); }},
    {"25 units, delays",
     [](Draw& draw) {
       Run run = few_units(draw);
       delay_as_usual(run, draw);
       return run;
     }},
    {"very heavy tails: lognormal (2.5-3.2)",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_by(run, draw, DelayLaw::lognormal, draw.uniform(2.5, 3.2), 0.05, 4.0);
       return run;
     }},
    {"quiet, one group doubles half way, counted", [](Draw& draw) { return step_up(draw, true); }},
    {"quiet, one group doubles half way, not counted", [](Draw& draw) { return step_up(draw, false); }},
    {"quiet, one rank of 2-8 always has 10-60 % more work",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.ranks = draw.one_of({2, 4, 8});
       run.late_rank = draw.uniform(0.1, 0.6);
       return run;
     }},
    {"the same, delays",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.ranks = draw.one_of({2, 4, 8});
       run.late_rank = draw.uniform(0.1, 0.6);
       return run;
     }},
    {"slows down linearly x1.05-2.2, CPU time",
     [](Draw& draw) {
       Run run = program(draw, Counter::cpu_time);
       run.speed = {.pattern = Speed::Pattern::slows_down, .factor = draw.uniform(1.05, 2.2)};
       return run;
     }},
    {"slows down linearly and delays, instructions",
     [](Draw& draw) {
       Run run = delayed(draw, Counter::instructions);
       run.speed = {.pattern = Speed::Pattern::slows_down, .factor = draw.uniform(1.05, 1.6)};
       return run;
     }},
    {"a daemon in step with every 2nd-7th segment",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.delay_law = DelayLaw::normal;
       const double period = run_seconds(run) / static_cast<double>(run.segments) * draw.one_of({2, 3, 5, 7});
       run.daemons.push_back({period, period * draw.uniform(0.03, 0.3)});
       return run;
     }},
    {"equal delays, 10-40 a segment",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_by(run, draw, DelayLaw::normal, 0.02, 10.0, 40.0);
       return run;
     }},
    {"quiet, other work x2-5 in 20-80 % of segments, not counted",
     [](Draw& draw) {
       Run run = program(draw, Counter::instructions);
       run.other_kind = {draw.uniform(0.2, 0.8), draw.uniform(1.0, 4.0)};
       return run;
     }},
    {"quiet, lognormal work (0.1-0.8), not counted",
     [](Draw& draw) {
       Run run = program(draw, draw.one_of({Counter::instructions, Counter::simple}));
       run.variation = {
           .pattern = Variation::Pattern::lognormal, .spread = draw.uniform(0.1, 0.8), .is_counted = false};
       return run;
     }},
    {"quiet, work x1.5-4 along the run, not counted",
     [](Draw& draw) {
       Run run = program(draw, Counter::simple);
       const double growth = draw.log_uniform(0.5, 3.0);
       for (auto& phase : run.phases) phase.growth = growth;
       return run;
     }},
    {"short bursts (3-20 segments), jitter 5-15 %",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.jitter = draw.uniform(0.05, 0.15);
       run.exposed = draw.uniform(0.05, 0.3);
       run.burst_segments = static_cast<std::size_t>(draw.uniform(3, 20));
       return run;
     }},
    {"quiet, jitter of 20-50 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.jitter_law = draw.one_of({JitterLaw::gamma, JitterLaw::lognormal, JitterLaw::weibull});
       run.jitter = draw.uniform(0.2, 0.5);
       return run;
     }},
    {"speed walks to x1.1-1.6 and delays, either",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.speed = {.pattern = Speed::Pattern::walk, .factor = draw.uniform(1.1, 1.6)};
       return run;
     }},
    {"delays from the middle on, 4-16 a segment",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.hits = draw.log_uniform(4, 16);
       run.disturbed_from = draw.uniform(0.3, 0.8);
       return run;
     }},
};
}  // namespace halcyon::bench
