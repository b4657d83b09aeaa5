#include "bench/laws.hpp"

#include <algorithm>

namespace halcyon::bench {
namespace {

using truth::Counter;
using truth::DelayLaw;
using truth::JitterLaw;
using truth::Run;
using truth::Speed;
using truth::Variation;

Run wide_jitter(Draw& draw, Counter counter) {
  Run run = program(draw, counter);
  run.jitter = draw.uniform(0.06, 0.2);
  return run;
}

Run varied_work(Draw& draw, Counter counter) {
  Run run = program(draw, counter);
  run.variation = {
      .pattern = Variation::Pattern::random, .spread = draw.uniform(0.15, 0.3), .fixed = draw.uniform(0.0, 0.5)};
  return run;
}

Run two_speeds(Draw& draw, Counter counter, double factor) {
  Run run = program(draw, counter);
  run.speed = {
      .pattern = Speed::Pattern::random_switching,
      .factor = factor,
      .dwell_seconds = std::min(draw.log_uniform(0.05, 5.0), 0.1 * run_seconds(run)),  // so that both speeds occur
      .slow_share = draw.uniform(0.2, 0.8)};
  return run;
}

Run spikes(Draw& draw) {
  Run run = program(draw, draw.one_of({Counter::instructions, Counter::cpu_time}));
  delay_by(run, draw, draw.one_of({DelayLaw::lognormal, DelayLaw::pareto}), 0.0, 0.01, 0.0101);
  run.slowdown = draw.uniform(0.005, 0.24);
  return run;
}

Run comes_again(Draw& draw, bool is_counted) {
  Run run = program(draw, Counter::instructions);
  run.variation = {.pattern = draw.one_of({Variation::Pattern::sawtooth, Variation::Pattern::every_so_often}),
                   .spread = draw.uniform(0.02, is_counted ? 0.3 : 0.08),
                   .period = static_cast<std::size_t>(draw.log_uniform(5, 60)),
                   .is_counted = is_counted};
  return run;
}

Run delays_in_calls(Draw& draw, double fewest, double most) {
  Run run = program(draw, Counter::instructions);
  delay_by(run, draw, usual_delay(draw), 0.0, fewest, most);
  run.calls = static_cast<std::uint64_t>(draw.log_uniform(8.0, 200.0));
  run.slack = draw.uniform(0.0, 0.02);
  run.in_calls = 1.0;
  return run;
}

}  // namespace

const std::vector<Law> reported_laws{
    {"quiet, jitter of 6 to 20 %, instructions", [](Draw& draw) { return wide_jitter(draw, Counter::instructions); }},
    {"the same, CPU time", [](Draw& draw) { return wide_jitter(draw, Counter::cpu_time); }},
    {"quiet, duration a + b work, work ± 15 to 30 %, instructions",
     [](Draw& draw) { return varied_work(draw, Counter::instructions); }},
    {"the same, CPU time", [](Draw& draw) { return varied_work(draw, Counter::cpu_time); }},
    {"quiet, two kinds of work 3 to 9 % apart, equal features",
     [](Draw& draw) {
       Run run = program(draw, Counter::instructions);
       run.jitter = draw.uniform(0.003, 0.015);
       run.other_kind = {draw.uniform(0.15, 0.85), draw.uniform(0.03, 0.09)};
       return run;
     }},
    {"quiet, own waiting in calls, 1 to 6 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.slack = draw.uniform(0.01, 0.06);
       run.calls = static_cast<std::uint64_t>(draw.log_uniform(8.0, 200.0));
       return run;
     }},
    {"spikes at 1 % of the segments", spikes},
    {"speed switching × 1.6, instructions", [](Draw& draw) { return two_speeds(draw, Counter::instructions, 1.6); }},
    {"the same, CPU time", [](Draw& draw) { return two_speeds(draw, Counter::cpu_time, 1.6); }},
    {"delays and speed switching, instructions",
     [](Draw& draw) {
       Run run = two_speeds(draw, Counter::instructions, 1.6);
       delay_as_usual(run, draw);
       run.slowdown = draw.uniform(0.01, 0.3);
       return run;
     }},
    {"jitter of 6 to 20 %, delays",
     [](Draw& draw) {
       Run run = wide_jitter(draw, either(draw));
       delay_as_usual(run, draw);
       return run;
     }},
    {"work ± 15 to 30 %, delays, instructions",
     [](Draw& draw) {
       Run run = varied_work(draw, Counter::instructions);
       delay_as_usual(run, draw);
       return run;
     }},
    {"4 to 16 Weibull (1.5) delays a segment",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_by(run, draw, DelayLaw::weibull, 1.5, 4.0, 16.0);
       return run;
     }},
    {"quiet, work that comes again and again, counted", [](Draw& draw) { return comes_again(draw, true); }},
    {"the same, not counted", [](Draw& draw) { return comes_again(draw, false); }},
    {"delays: uniform, Weibull (0.5), lognormal (2), proportional",
     [](Draw& draw) {
       struct Kind {
         DelayLaw law;
         double parameter;
       };
       Run run = program(draw, either(draw));
       const Kind kind = draw.one_of<Kind>({{DelayLaw::uniform, 0.0},
                                            {DelayLaw::weibull, 0.5},
                                            {DelayLaw::lognormal, 2.0},
                                            {DelayLaw::proportional, 0.0}});
       delay_by(run, draw, kind.law, kind.parameter, 0.05, 4.0);
       return run;
     }},
    {"delays in calls, 0.05 to 4 a segment", [](Draw& draw) { return delays_in_calls(draw, 0.05, 4.0); }},
    {"delays on one rank of 64",
     [](Draw& draw) {
       Run run = program(draw, Counter::instructions);
       run.ranks = 64;
       run.disturbed_ranks = 1;
       run.segments = std::min<std::size_t>(run.segments, 3000);
       delay_as_usual(run, draw);
       return run;
     }},
    // Others.
    {"quiet, jitter uniform, Weibull or triangular, 2 to 18 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.jitter_law = draw.one_of({JitterLaw::uniform, JitterLaw::weibull, JitterLaw::triangular});
       run.jitter = draw.uniform(0.02, 0.18);
       return run;
     }},
    {"quiet, jitter that wanders, 2 to 10 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.jitter = draw.uniform(0.02, 0.1);
       run.jitter_correlation = draw.uniform(0.5, 0.95);
       return run;
     }},
    {"speed switching every second or half, × 1.15 to 1.5, instructions",
     [](Draw& draw) {
       Run run = two_speeds(draw, Counter::instructions, draw.uniform(1.15, 1.5));
       run.speed.pattern = Speed::Pattern::periodic_switching;
       run.speed.dwell_seconds = std::min(draw.one_of({0.5, 1.0}), 0.1 * run_seconds(run));
       return run;
     }},
    {"the same, CPU time",
     [](Draw& draw) {
       Run run = two_speeds(draw, Counter::cpu_time, draw.uniform(1.15, 1.5));
       run.speed.pattern = Speed::Pattern::periodic_switching;
       run.speed.dwell_seconds = std::min(draw.one_of({0.5, 1.0}), 0.1 * run_seconds(run));
       return run;
     }},
    {"speed that goes up and down by 5 to 20 %, instructions",
     [](Draw& draw) {
       Run run = two_speeds(draw, Counter::instructions, draw.uniform(1.05, 1.2));
       run.speed.pattern = draw.one_of({Speed::Pattern::wave, Speed::Pattern::walk});
       run.speed.dwell_seconds = run_seconds(run) * draw.uniform(0.05, 0.3);
       return run;
     }},
    {"bursts in a tenth to a third of the run, jitter of 3 to 10 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.jitter = draw.uniform(0.03, 0.1);
       delay_by(run, draw, usual_delay(draw), 0.0, 0.05, 2.0);
       run.exposed = draw.uniform(0.1, 0.35);
       return run;
     }},
    {"own waiting up to 6 %, 4 to 16 delays in calls",
     [](Draw& draw) {
       Run run = delays_in_calls(draw, 4.0, 16.0);
       run.slack = draw.uniform(0.0, 0.06);
       return run;
     }},
    {"quiet, duration curved in the work, ± 20 %, either counter",
     [](Draw& draw) {
       Run run = varied_work(draw, either(draw));
       run.variation.spread = draw.uniform(0.05, 0.2);
       run.variation.curvature = draw.uniform(-0.8, 1.5);
       return run;
     }},
    {"quiet, 8 ranks, jitter of 3 to 12 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.ranks = 8;
       run.jitter = draw.uniform(0.03, 0.12);
       return run;
     }},
    {"delays in the last part of the run only",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_by(run, draw, usual_delay(draw), 0.0, 0.1, 4.0);
       run.disturbed_from = draw.uniform(0.3, 0.8);
       return run;
     }},
    {"few long delays, jitter of 5 to 20 %",
     [](Draw& draw) {
       Run run = wide_jitter(draw, either(draw));
       run.jitter = draw.uniform(0.05, 0.2);
       delay_by(run, draw, usual_delay(draw), 0.0, 0.01, 0.05);
       return run;
     }},
    {"quiet, work that grows by 5 to 30 %, counted or not",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       for (truth::Phase& phase : run.phases) phase.growth = draw.uniform(0.05, 0.3);
       if (draw.with_probability(0.5)) run.counter = Counter::simple;
       return run;
     }},
    {"quiet, as it should be: jitter up to 3 %", [](Draw& draw) { return program(draw, either(draw)); }},
    {"0.05 to 4 delays a segment, jitter up to 3 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_as_usual(run, draw);
       return run;
     }},
};

namespace {

DelayLaw other_delay(Draw& draw) { return draw.one_of({DelayLaw::gamma, DelayLaw::two_point, DelayLaw::lognormal}); }
double other_parameter(DelayLaw law) { return law == DelayLaw::lognormal ? 0.6 : 0.0; }

void delay_otherwise(Run& run, Draw& draw, double fewest, double most) {
  const DelayLaw law = other_delay(draw);
  delay_by(run, draw, law, other_parameter(law), fewest, most);
}

Run other_program(Draw& draw, Counter counter) {
  Run run = program(draw, counter);
  run.jitter_law = draw.one_of({JitterLaw::triangular, JitterLaw::logistic, JitterLaw::weibull, JitterLaw::lognormal});
  return run;
}

}  // namespace

const std::vector<Law> calibration_laws{
    {"quiet, jitter up to 4 %", [](Draw& draw) { return other_program(draw, either(draw)); }},
    {"quiet, jitter of 4 to 25 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.jitter = draw.uniform(0.04, 0.25);
       return run;
     }},
    {"quiet, work walks or varies by 10 to 40 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.variation = {.pattern = draw.one_of({Variation::Pattern::walk, Variation::Pattern::random}),
                        .spread = draw.uniform(0.1, 0.4),
                        .fixed = draw.uniform(-0.2, 0.6),
                        .curvature = draw.uniform(-0.5, 0.5)};
       return run;
     }},
    {"quiet, other kind of work 2 to 12 % apart",
     [](Draw& draw) {
       Run run = other_program(draw, Counter::instructions);
       run.other_kind = {draw.uniform(0.05, 0.95), draw.uniform(0.02, 0.12)};
       return run;
     }},
    {"quiet, own waiting 0 to 7 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.slack = draw.uniform(0.0, 0.07);
       run.calls = static_cast<std::uint64_t>(draw.log_uniform(4.0, 400.0));
       return run;
     }},
    {"delays, 0.02 to 4 a segment, jitter up to 4 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.jitter = draw.uniform(0.0, 0.04);
       delay_otherwise(run, draw, 0.02, 4.0);
       return run;
     }},
    {"delays, 3 to 20 a segment, jitter up to 4 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.jitter = draw.uniform(0.0, 0.04);
       delay_otherwise(run, draw, 3.0, 20.0);
       return run;
     }},
    {"delays, jitter of 4 to 25 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.jitter = draw.uniform(0.04, 0.25);
       delay_otherwise(run, draw, 0.02, 4.0);
       return run;
     }},
    {"delays, work varies by 10 to 40 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.variation = {
           .pattern = Variation::Pattern::random, .spread = draw.uniform(0.1, 0.4), .fixed = draw.uniform(-0.2, 0.6)};
       delay_otherwise(run, draw, 0.02, 4.0);
       return run;
     }},
    {"speed switching × 1.1 to 2", [](Draw& draw) { return two_speeds(draw, either(draw), draw.uniform(1.1, 2.0)); }},
    {"speed switching × 1.1 to 2 and delays",
     [](Draw& draw) {
       Run run = two_speeds(draw, either(draw), draw.uniform(1.1, 2.0));
       delay_otherwise(run, draw, 0.02, 4.0);
       run.slowdown = draw.uniform(0.01, 0.3);
       return run;
     }},
    {"speed walks by 3 to 25 %",
     [](Draw& draw) {
       Run run = two_speeds(draw, either(draw), draw.uniform(1.03, 1.25));
       run.speed.pattern = draw.one_of({Speed::Pattern::walk, Speed::Pattern::wave});
       run.speed.dwell_seconds = run_seconds(run) * draw.uniform(0.03, 0.4);
       return run;
     }},
    {"delays in calls, own waiting up to 7 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       delay_otherwise(run, draw, 0.05, 16.0);
       run.calls = static_cast<std::uint64_t>(draw.log_uniform(4.0, 400.0));
       run.slack = draw.uniform(0.0, 0.07);
       run.in_calls = draw.uniform(0.5, 1.0);
       return run;
     }},
    {"16 ranks, bursts, jitter up to 10 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.ranks = 16;
       run.jitter = draw.uniform(0.0, 0.1);
       run.exposed = draw.uniform(0.05, 0.6);
       delay_otherwise(run, draw, 0.02, 4.0);
       return run;
     }},
    {"quiet, work that comes again or grows",
     [](Draw& draw) {
       Run run = other_program(draw, Counter::instructions);
       run.variation = {.pattern = draw.one_of({Variation::Pattern::sawtooth, Variation::Pattern::every_so_often}),
                        .spread = draw.uniform(0.01, 0.12),
                        .period = static_cast<std::size_t>(draw.log_uniform(3, 200)),
                        .is_counted = draw.with_probability(0.5)};
       for (truth::Phase& phase : run.phases) phase.growth = draw.uniform(0.0, 0.2);
       return run;
     }},
    {"quiet, jitter that wanders, 1 to 12 %",
     [](Draw& draw) {
       Run run = other_program(draw, either(draw));
       run.jitter = draw.uniform(0.01, 0.12);
       run.jitter_correlation = draw.uniform(0.3, 0.98);
       return run;
     }},
};

}  // namespace halcyon::bench
