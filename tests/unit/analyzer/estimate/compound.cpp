#include "analyzer/estimate/compound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analyzer/estimate/added_time.hpp"
#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/explain.hpp"
#include "analyzer/estimate/sharing.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/statistics/durations.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

Durations durations_of_run(const truth::Truth& truth) {
  return Eigen::Map<const Eigen::ArrayXf>(truth.profile.duration.data(),
                                          static_cast<Eigen::Index>(truth.profile.duration.size()))
      .cast<double>();
}

RunEstimate estimate_compound(const Durations& durations) {
  const Eigen::ArrayXf recorded = durations.cast<float>();
  JudgedDurations run{.run_time = durations.sum()};
  add_group(run, {.durations = {recorded.data(), static_cast<std::size_t>(recorded.size())}});
  return halcyon::estimate_compound(run, Detail::segments);
}

double percent(const MethodResult& result) { return result.interference_percent; }

const MethodResult& result_of(const Analysis& analysis, std::string_view name) {
  for (const MethodResult& result : analysis.methods) {
    if (result.name == name) return result;
  }
  throw std::logic_error("no such method");
}

// -- the law of durations

TEST(DelayLaw, HasMeanOne) {
  for (const DelayLaw& law : delay_laws) {
    const double u = 1e-6;
    EXPECT_NEAR((1.0 - laplace_transform(law, {u}).front().real()) / u, 1.0, 1e-3);
  }
}

TEST(DurationLaw, WithoutDelaysIsTheJittersOwn) {
  DurationLaws laws;
  const DurationLaw& law = laws.get({});
  EXPECT_NEAR(law.at(0.0).probability, 0.5, 1e-3);
  EXPECT_NEAR(law.at(1.0).probability, 0.8413, 1e-3);
  EXPECT_NEAR(law.at(0.0).density, 0.3989, 2e-3);
  EXPECT_NEAR(law.quantile(0.1), -1.2816, 0.13);
}

TEST(DurationLaw, LeavesAsManySegmentsUntouchedAsPoissonSays) {
  DurationLaws laws;
  const DurationLaw& law = laws.get({.hits = 2.0, .mean_delay = 50.0, .law = 0});
  EXPECT_NEAR(law.at(10.0).probability, std::exp(-2.0), 1e-3);
  // half of the segments are not exposed at all
  const DurationLaw& bursts = laws.get({.hits = 2.0, .mean_delay = 50.0, .law = 0, .exposed = 0.5});
  EXPECT_NEAR(bursts.at(10.0).probability, 0.5 + 0.5 * std::exp(-2.0), 1e-3);
}

TEST(DurationLaw, DoesNotWrapWhatIsLongerThanItsTable) {
  DurationLaws laws;
  const DurationLaw& law = laws.get({.hits = 10.0, .mean_delay = 20.0, .law = 3});  // mean 200, table 120
  EXPECT_LT(law.at(-4.0).probability, 1e-4);
  EXPECT_NEAR(law.at(200.0).probability, 0.55, 0.03);  // right-skewed: the mean is beyond the median
}

// -- one group

TEST(Compound, SeesDelaysThatStrikeNearlyEverySegment) {
  const truth::Truth truth = truth::make_truth({.segments = 1500,
                                                .jitter_law = truth::JitterLaw::normal,
                                                .jitter = 0.02,
                                                .hits = 4.0,
                                                .slowdown = 0.35,
                                                .seed = 3});
  const Analysis analysis = analyze(truth.profile, "compound");
  EXPECT_NEAR(percent(result_of(analysis, "compound")), truth.interference_percent, 3.0);
  EXPECT_LT(percent(result_of(analysis, "paper")), 10.0);
  EXPECT_EQ(analysis.result().verdict, Verdict::red);
  EXPECT_GT(analysis.result().continuous_percent, 0.5 * percent(analysis.result()));
}

// No law of delays is so narrow. One that does not quite fit still says that the shortest segments are undisturbed.
TEST(Compound, SeesManyDelaysOfOneLengthThatAreMuchLongerThanSegments) {
  std::mt19937_64 random(3);
  std::normal_distribution<> jitter(1.0, 0.02);
  std::normal_distribution<> delay(2.06e-3, 0.1e-3);
  std::poisson_distribution<> hits(1.9);
  Durations durations(1000);
  for (double& one : durations) {
    one = 0.42e-3 * jitter(random);
    for (int left = hits(random); left > 0; --left) one += delay(random);
  }
  const RunEstimate estimate = estimate_compound(durations);
  const double truth = durations.sum() - 0.42;
  EXPECT_NEAR(estimate.excess_of_groups(), truth, 0.02 * truth);
  EXPECT_GT(estimate.excess_seconds.low, 0.9 * truth);
}

TEST(Compound, LeavesRareLongDelaysToTheSecond) {
  const truth::Truth truth = truth::make_truth({.segments = 1000,
                                                .jitter_law = truth::JitterLaw::lognormal,
                                                .jitter = 0.03,
                                                .delay_law = truth::DelayLaw::pareto,
                                                .hits = 0.1,
                                                .slowdown = 0.2,
                                                .seed = 5});
  const Analysis analysis = analyze(truth.profile, "compound");
  EXPECT_NEAR(percent(analysis.result()), truth.interference_percent, 0.7);
  EXPECT_LT(analysis.result().continuous_percent, 0.1 * percent(analysis.result()));
}

TEST(Compound, FindsNothingInJitterOfAnyLaw) {
  using truth::JitterLaw;
  for (const JitterLaw law : {JitterLaw::none, JitterLaw::normal, JitterLaw::lognormal, JitterLaw::gamma}) {
    const truth::Truth truth = truth::make_truth({.segments = 500, .jitter_law = law, .jitter = 0.05, .seed = 7});
    const Analysis analysis = analyze(truth.profile, "compound");
    EXPECT_EQ(analysis.result().interval_percent.low, 0.0);
    // Jitter with a long right side may also be many delays: then it is not known.
    EXPECT_TRUE(analysis.result().verdict == Verdict::green || analysis.result().verdict == Verdict::unknown);
    if (law == JitterLaw::none || law == JitterLaw::normal) {
      EXPECT_LT(percent(analysis.result()), 2.0);
    }
  }
}

TEST(Compound, WidensItsIntervalWhereManySmallDelaysLookLikeJitter) {
  const truth::Truth truth = truth::make_truth({.segments = 200,
                                                .jitter_law = truth::JitterLaw::normal,
                                                .jitter = 0.02,
                                                .delay_law = truth::DelayLaw::normal,
                                                .hits = 8.0,
                                                .slowdown = 0.25,
                                                .seed = 2});
  const Analysis analysis = analyze(truth.profile, "compound");
  const Interval& interval = analysis.result().interval_percent;
  EXPECT_LT(interval.low, truth.interference_percent);
  EXPECT_GT(interval.high, truth.interference_percent);
  EXPECT_GT(interval.high - interval.low, 10.0);
}

// Levels that an unnoticed change of speed leaves, and time slices of the scheduler: no law of delays is right for
// them.
TEST(Compound, IsNotSureWhereNoLawFits) {
  std::mt19937_64 random(4);
  std::normal_distribution<> jitter(1.0, 0.01);
  std::poisson_distribution<> slices(0.5);
  Durations durations(300);
  for (Eigen::Index i = 0; i < durations.size(); ++i) {
    const double level = std::array{1.0, 1.16, 1.16, 1.3}[random() % 4];
    durations[i] = 0.01 * level * jitter(random) + 0.004 * slices(random);
  }
  const RunEstimate estimate = estimate_compound(durations);
  EXPECT_GT(estimate.excess_seconds.high - estimate.excess_seconds.low, 0.1 * durations.sum());
}

TEST(Compound, DoesNotDependOnTheUnitOfTime) {
  const truth::Truth truth = truth::make_truth({.segments = 300, .hits = 1.0, .slowdown = 0.2});
  const Durations seconds = durations_of_run(truth);
  const RunEstimate one = estimate_compound(seconds);
  const RunEstimate other = estimate_compound(1000.0 * seconds);
  EXPECT_NEAR(other.groups.front().baseline, 1000.0 * one.groups.front().baseline, 1e-3);
}

TEST(Compound, GivesEachSegmentItsPartOfTheExcess) {
  const truth::Truth truth = truth::make_truth({.segments = 400, .hits = 0.5, .slowdown = 0.3});
  const Durations durations = durations_of_run(truth);
  const RunEstimate estimate = estimate_compound(durations);
  EXPECT_GE(*std::min_element(estimate.excess.begin(), estimate.excess.end()), 0.0);
  const double excess = std::accumulate(estimate.excess.begin(), estimate.excess.end(), 0.0);
  EXPECT_NEAR(excess, durations.sum() - 400.0 * estimate.groups.front().baseline, 1e-6);
  EXPECT_NEAR(excess, truth.excess_seconds, 0.02 * truth.excess_seconds);
}

// Caches are cold after a delay, so the segment that it struck takes more CPU time.
TEST(Compound, CountsALongDelayWholeWhereTheSegmentThatItStruckDidMoreWork) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<> amount(0.7, 1.3);
  std::normal_distribution<> jitter(1.0, 0.01);
  std::vector<float> durations(1000);
  std::vector<float> work(durations.size());
  double delayed_seconds = 0.0;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const double delay = std::bernoulli_distribution(0.02)(random) ? 0.05 : 0.0;
    const double done = amount(random) * (delay > 0.0 ? 1.5 : 1.0);
    work[i] = static_cast<float>(1e6 * done);
    durations[i] = static_cast<float>(1e-3 * done * jitter(random) + delay);
    delayed_seconds += delay;
  }
  JudgedDurations run{.run_time = std::accumulate(durations.begin(), durations.end(), 0.0)};
  add_group(run, {.durations = durations, .work = work});
  const RunEstimate estimate = halcyon::estimate_compound(run, Detail::segments);
  EXPECT_NEAR(estimate.groups.front().excess_seconds, delayed_seconds, 0.01 * delayed_seconds);
}

// -- groups together

TEST(Compound, LetsGroupsWithFewHitsTellThoseWithMany) {
  // The long segments are struck twelve times each, which alone could be anything; the short ones once.
  const truth::Truth truth = truth::make_truth({.segments = 2000,
                                                .phases = {{9, 1e-3}, {1, 12e-3}},
                                                .jitter_law = truth::JitterLaw::normal,
                                                .jitter = 0.02,
                                                .hits = 2.1,
                                                .slowdown = 0.3,
                                                .seed = 11});
  const Analysis analysis = analyze(truth.profile, "compound");
  EXPECT_NEAR(percent(analysis.result()), truth.interference_percent, 3.0);

  std::vector<Durations> groups(2);
  std::vector<double> values[2];
  for (std::size_t i = 0; i < truth.profile.segments; ++i) {
    values[truth.profile.site[i]].push_back(static_cast<double>(truth.profile.duration[i]));
  }
  DurationLaws laws;
  std::vector<std::vector<Explanation>> explanations;
  for (std::size_t g = 0; g < 2; ++g) {
    std::sort(values[g].begin(), values[g].end());
    groups[g] = Eigen::Map<const Durations>(values[g].data(), static_cast<Eigen::Index>(values[g].size()));
    explanations.push_back(explain(cells_of(values[g]), laws, 0.0, true));
  }
  const AddedTime alone = added_time(explanations[1], groups[1].mean());
  share_between_groups(explanations, {0.0, 0.0}, {0, 1});
  const AddedTime told = added_time(explanations[1], groups[1].mean());
  EXPECT_LT(told.high - told.low, 0.9 * (alone.high - alone.low));
}

TEST(Compound, IsUnknownWhereItsIntervalReachesFromGreenToRed) {
  Analysis analysis;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const truth::Truth truth = truth::make_truth({.segments = 60,
                                                  .jitter_law = truth::JitterLaw::normal,
                                                  .jitter = 0.04,
                                                  .delay_law = truth::DelayLaw::normal,
                                                  .hits = 6.0,
                                                  .slowdown = 0.2,
                                                  .seed = seed});
    analysis = analyze(truth.profile, "compound");
    const Interval& interval = analysis.result().interval_percent;
    const bool spans = interval.low < green_below_percent && interval.high > red_above_percent;
    EXPECT_EQ(analysis.result().verdict == Verdict::unknown, spans);
    if (spans) break;
  }
  ASSERT_TRUE(analysis.no_verdict);
  EXPECT_EQ(analysis.no_verdict->reason.code, "wide-interval");
}

// -- what calls tell

TEST(Compound, KnowsFromCallsWhatManyHitsHide) {
  truth::Run run{.segments = 300,
                 .jitter_law = truth::JitterLaw::normal,
                 .jitter = 0.03,
                 .delay_law = truth::DelayLaw::normal,
                 .hits = 12.0,
                 .slowdown = 0.25,
                 .calls = 40,
                 .in_calls = 1.0};
  for (run.seed = 1; run.seed <= 10; ++run.seed) {
    truth::Truth truth = truth::make_truth(run);
    const Analysis analysis = analyze(truth.profile, "compound");
    EXPECT_EQ(analysis.result().verdict, Verdict::red) << run.seed;
    EXPECT_NEAR(percent(analysis.result()), truth.interference_percent, 1.5) << run.seed;
  }
}

TEST(Compound, AddsWhatCallsAndWhatComputationLost) {
  const truth::Truth truth = truth::make_truth({.segments = 1000,
                                                .jitter_law = truth::JitterLaw::normal,
                                                .jitter = 0.02,
                                                .hits = 2.0,
                                                .slowdown = 0.3,
                                                .calls = 40,
                                                .in_calls = 0.5});
  // The program may wait by itself for a percent or so.
  EXPECT_NEAR(percent(analyze(truth.profile, "compound").result()), truth.interference_percent, 2.0);
}

// Each segment waits for a fifth of its time, by an exchange that takes more than others of its kind.
TEST(Compound, TakesRegularWaitingForTheProgramsOwn) {
  truth::Truth truth =
      truth::make_truth({.segments = 1000, .jitter_law = truth::JitterLaw::normal, .jitter = 0.02, .calls = 20});
  for (std::size_t i = 0; i < truth.profile.segments; ++i) {
    truth.profile.calls_beyond_usual[i] = 0.2F * truth.profile.duration[i];
  }
  EXPECT_LT(percent(analyze(truth.profile, "compound").result()), 3.0);
}

// Ranks take turns in being late: what one waits for at random is not on the critical path.
TEST(Compound, LeavesWaitingAloneThatDelaysNothing) {
  truth::Truth truth =
      truth::make_truth({.segments = 1000, .jitter_law = truth::JitterLaw::normal, .jitter = 0.02, .calls = 20});
  std::mt19937 engine(5);
  std::exponential_distribution<float> share(10.0F);
  for (float& waits : truth.profile.calls_beyond_usual) waits = 2e-2F * std::min(share(engine), 0.5F);
  EXPECT_LT(percent(analyze(truth.profile, "compound").result()), 3.0);
}

TEST(Compound, IsCertainOfDurationsThatAreAsGoodAsEqual) {
  Durations durations = Durations::Constant(500, 1e-3);
  for (Eigen::Index i = 0; i < durations.size(); ++i) durations[i] *= 1.0 + 1e-6 * static_cast<double>(i % 7);
  const RunEstimate estimate = estimate_compound(durations);
  EXPECT_LT(estimate.excess_seconds.high, 0.01 * durations.sum());
}

TEST(Compound, JudgesProfilesOfOlderRecordersByTheirDurations) {
  truth::Truth truth = truth::make_truth({.segments = 500, .hits = 0.5, .slowdown = 0.2, .calls = 10, .in_calls = 1.0});
  truth.profile.calls_beyond_usual.clear();
  EXPECT_NEAR(percent(analyze(truth.profile, "compound").result()), truth.interference_percent, 1.0);
}

}  // namespace
