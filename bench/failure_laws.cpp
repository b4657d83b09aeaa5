// Classes of programs and machines on which the default estimator failed when it was tried on runs of another
// generator, with other parameters than these had; then some that no other law has.
#include <algorithm>

#include "bench/laws.hpp"

namespace halcyon::bench {
namespace {

using truth::Counter;
using truth::DelayLaw;
using truth::Run;
using truth::Speed;
using truth::Variation;

Run delayed_beside(Draw& draw, Counter counter) {
  Run run = delayed(draw, counter);
  run.threads = draw.one_of({2, 4, 8});
  return run;
}

// No counter tells that the work differs.
Run varies_unseen(Draw& draw, Variation variation) {
  variation.is_counted = false;
  Run run = program(draw, draw.one_of({Counter::instructions, Counter::simple}));
  run.variation = variation;
  return run;
}

Run turns_in_one_group(Draw& draw, Counter counter) {
  Run run = program(draw, counter);
  run.variation = {.pattern = draw.one_of({Variation::Pattern::turns, Variation::Pattern::random_turns}),
                   .spread = draw.uniform(0.1, 1.5),
                   .period = static_cast<std::size_t>(draw.log_uniform(10, 200))};
  for (truth::Phase& phase : run.phases) phase.varies = false;
  const auto last = run.phases.size() - 1;
  run.phases[std::uniform_int_distribution<std::size_t>(0, last)(draw.random)].varies = true;
  return run;
}

Run two_daemons(Draw& draw) {
  Run run = program(draw, either(draw));
  run.delay_law = DelayLaw::normal;  // each does about the same every time
  const double fast = draw.log_uniform(3e-3, 4e-2);
  const double slow = std::min(draw.log_uniform(0.15, 1.5), 0.1 * run_seconds(run));
  for (const double period : {fast, slow}) run.daemons.push_back({period, period * draw.uniform(0.005, 0.12)});
  return run;
}

// One group may have nearly all segments, another nearly all of the time, and one has few segments in any case.
Run unequal_groups(Draw& draw) {
  std::vector<truth::Phase> phases;
  const int groups = draw.one_of({2, 3, 5});
  for (int group = 0; group < groups; ++group) {
    const auto share = static_cast<std::size_t>(group == 0 ? 1.0 : draw.log_uniform(1.0, 100.0));
    phases.push_back({share, draw.log_uniform(1e-4, 3e-2)});
  }
  const auto iterations = static_cast<std::size_t>(draw.log_uniform(30, 300));
  return program_of(std::move(phases), iterations, draw, either(draw));
}

}  // namespace

const std::vector<Law> failure_laws{
    {"delays of threads for which another one spins, CPU time",
     [](Draw& draw) { return delayed_beside(draw, Counter::cpu_time); }},
    {"the same, instructions", [](Draw& draw) { return delayed_beside(draw, Counter::instructions); }},
    {"delays that CPU time contains, which nothing tells: interrupts",
     [](Draw& draw) {
       Run run = delayed(draw, Counter::cpu_time);
       run.delays_use_cpu = true;
       return run;
     }},
    {"the same, and the kernel tells how much was stolen: a hypervisor",
     [](Draw& draw) {
       Run run = delayed(draw, Counter::cpu_time);
       run.delays_use_cpu = run.is_theft_told = true;
       return run;
     }},
    {"quiet, one group's work turns × 1.1 to 2.5 and back, CPU time",
     [](Draw& draw) { return turns_in_one_group(draw, Counter::cpu_time); }},
    {"two daemons, one each 3 to 40 ms, one each 0.15 to 1.5 s", two_daemons},
    {"quiet, every k-th segment 6 to 90 % longer, not counted",
     [](Draw& draw) {
       return varies_unseen(draw, {.pattern = Variation::Pattern::every_so_often,
                                   .spread = draw.log_uniform(0.06, 0.9),
                                   .period = static_cast<std::size_t>(draw.log_uniform(2, 100))});
     }},
    {"quiet, work that goes up and down by 2 to 20 %, not counted",
     [](Draw& draw) {
       return varies_unseen(draw, {.pattern = Variation::Pattern::wave,
                                   .spread = draw.uniform(0.02, 0.2),
                                   .period = static_cast<std::size_t>(draw.log_uniform(6, 500))});
     }},
    {"quiet, work × 1.3 to 8 along the run, counted",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       const double growth = draw.log_uniform(1.3, 8.0) - 1.0;
       for (truth::Phase& phase : run.phases) phase.growth = growth;
       return run;
     }},
    {"a machine that slows down all along, to × 1.05 to 2.2, instructions",
     [](Draw& draw) {
       Run run = program(draw, Counter::instructions);
       run.speed = {.pattern = Speed::Pattern::slows_down, .factor = draw.uniform(1.05, 2.2)};
       return run;
     }},
    {"quiet, adaptive work, lognormal (0.1 to 0.9), counted",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.variation = {
           .pattern = Variation::Pattern::lognormal, .spread = draw.uniform(0.1, 0.9), .fixed = draw.uniform(0.0, 0.3)};
       return run;
     }},
    {"3 to 24 Weibull (0.7 to 4) delays a segment",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_by(run, draw, DelayLaw::weibull, draw.uniform(0.7, 4.0), 3.0, 24.0);
       return run;
     }},
    {"jitter that wanders, 1 to 15 %, delays",
     [](Draw& draw) {
       Run run = delayed(draw, either(draw));
       run.jitter = draw.log_uniform(0.01, 0.15);
       run.jitter_correlation = draw.uniform(0.3, 0.97);
       return run;
     }},
    // That no other law has.
    {"heavy tails: Pareto (1.05 to 1.3) delays",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       delay_by(run, draw, DelayLaw::pareto, draw.uniform(1.05, 1.3), 0.02, 4.0);
       return run;
     }},
    {"groups of very different sizes, delays",
     [](Draw& draw) {
       Run run = unequal_groups(draw);
       delay_as_usual(run, draw);
       return run;
     }},
    {"quiet, cold caches at random: 13 to 50 % longer, instructions",
     [](Draw& draw) {
       Run run = program(draw, Counter::instructions);
       run.other_kind = {draw.uniform(0.05, 0.6), draw.uniform(0.13, 0.5)};
       return run;
     }},
    {"quiet, work of each rank and segment ± 5 to 60 %",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.ranks = draw.one_of({2, 4, 16});
       run.rank_spread = draw.uniform(0.05, 0.6);
       return run;
     }},
    {"a neighbour that comes and stays, × 1.05 to 1.7",
     [](Draw& draw) {
       Run run = program(draw, either(draw));
       run.speed = {.pattern = Speed::Pattern::changes_once,
                    .factor = draw.uniform(1.05, 1.7),
                    .slow_share = draw.uniform(0.1, 0.9)};
       return run;
     }},
};

}  // namespace halcyon::bench
