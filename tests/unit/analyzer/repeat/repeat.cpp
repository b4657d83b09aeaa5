// What a series of runs says. Published cases: D. Ferrari, "Computer Systems Performance Evaluation" (1978), page 79,
// as Pilot's tests check it; Lew, Lottery, Norris and NoInt1 of NIST's Statistical Reference Datasets.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "analyzer/repeat/family.hpp"
#include "analyzer/repeat/random_effects.hpp"
#include "analyzer/repeat/series.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "analyzer/repeat/versus.hpp"
#include "analyzer/repeat/work_rate.hpp"
#include "analyzer/statistics/line.hpp"
#include "analyzer/statistics/moments.hpp"
#include "analyzer/statistics/student.hpp"
#include "tests/truth/series.hpp"

namespace {

using namespace halcyon;

const std::vector<double> ferrari{1.21, 1.67, 1.71, 1.53, 2.03, 2.15, 1.88, 2.02, 1.75, 1.84, 1.61, 1.35,
                                  1.43, 1.64, 1.52, 1.44, 1.17, 1.42, 1.64, 1.86, 1.68, 1.91, 1.73, 2.18,
                                  2.27, 1.93, 2.19, 2.04, 1.92, 1.97, 1.65, 1.71, 1.89, 1.70, 1.62, 1.48,
                                  1.55, 1.39, 1.45, 1.67, 1.62, 1.77, 1.88, 1.82, 1.93, 2.09, 2.24, 2.16};

const std::vector<double> lew{
    -213, -564, -35,  -15,  141,  115,  -420, -360, 203,  -338, -431, 194,  -220, -513, 154,  -125, -559, 92,   -21,
    -579, -52,  99,   -543, -175, 162,  -457, -346, 204,  -300, -474, 164,  -107, -572, -8,   83,   -541, -224, 180,
    -420, -374, 201,  -236, -531, 83,   27,   -564, -112, 131,  -507, -254, 199,  -311, -495, 143,  -46,  -579, -90,
    136,  -472, -338, 202,  -287, -477, 169,  -124, -568, 17,   48,   -568, -135, 162,  -430, -422, 172,  -74,  -577,
    -13,  92,   -534, -243, 194,  -355, -465, 156,  -81,  -578, -64,  139,  -449, -384, 193,  -198, -538, 110,  -44,
    -577, -6,   66,   -552, -164, 161,  -460, -344, 205,  -281, -504, 134,  -28,  -576, -118, 156,  -437, -381, 200,
    -220, -540, 83,   11,   -568, -160, 172,  -414, -408, 188,  -125, -572, -32,  139,  -492, -321, 205,  -262, -504,
    142,  -83,  -574, 0,    48,   -571, -106, 137,  -501, -266, 190,  -391, -406, 194,  -186, -553, 83,   -13,  -577,
    -49,  103,  -515, -280, 201,  300,  -506, 131,  -45,  -578, -80,  138,  -462, -361, 201,  -211, -554, 32,   74,
    -533, -235, 187,  -372, -442, 182,  -147, -566, 25,   68,   -535, -244, 194,  -351, -463, 174,  -125, -570, 15,
    72,   -550, -190, 172,  -424, -385, 198,  -218, -536, 96};

const std::vector<double> lottery{
    162, 671, 933, 414, 788, 730, 817, 33,  536, 875, 670, 236, 473, 167, 877, 980, 316, 950, 456, 92,  517, 557,
    956, 954, 104, 178, 794, 278, 147, 773, 437, 435, 502, 610, 582, 780, 689, 562, 964, 791, 28,  97,  848, 281,
    858, 538, 660, 972, 671, 613, 867, 448, 738, 966, 139, 636, 847, 659, 754, 243, 122, 455, 195, 968, 793, 59,
    730, 361, 574, 522, 97,  762, 431, 158, 429, 414, 22,  629, 788, 999, 187, 215, 810, 782, 47,  34,  108, 986,
    25,  644, 829, 630, 315, 567, 919, 331, 207, 412, 242, 607, 668, 944, 749, 168, 864, 442, 533, 805, 372, 63,
    458, 777, 416, 340, 436, 140, 919, 350, 510, 572, 905, 900, 85,  389, 473, 758, 444, 169, 625, 692, 140, 897,
    672, 288, 312, 860, 724, 226, 884, 508, 976, 741, 476, 417, 831, 15,  318, 432, 241, 114, 799, 955, 833, 358,
    935, 146, 630, 830, 440, 642, 356, 373, 271, 715, 367, 393, 190, 669, 8,   861, 108, 795, 269, 590, 326, 866,
    64,  523, 862, 840, 219, 382, 998, 4,   628, 305, 747, 247, 34,  747, 729, 645, 856, 974, 24,  568, 24,  694,
    608, 480, 410, 729, 947, 293, 53,  930, 223, 203, 677, 227, 62,  455, 387, 318, 562, 242, 428, 968};

double deviation(const std::vector<double>& values) {
  return std::sqrt(squares_about(values, mean_value(values)) / static_cast<double>(values.size() - 1));
}

void expect_relative(double value, double expected, double tolerance) {
  EXPECT_NEAR(value, expected, tolerance * std::abs(expected));
}

TEST(Subsessions, AreThoseOfPilotsTests) {
  expect_relative(mean_value(ferrari), 1.756458333333333, 1e-15);
  expect_relative(subsession_variance(ferrari, 1), 0.073474423758865273, 1e-14);
  expect_relative(subsession_autocorrelation(ferrari, 1), 0.63655574361384437, 1e-14);
  expect_relative(subsession_autocorrelation(ferrari, 2), 0.55892351761172487, 1e-14);
  expect_relative(subsession_variance(ferrari, 4), 0.05264711174242424, 1e-14);
  expect_relative(subsession_autocorrelation(ferrari, 4), 0.08230986644266707, 1e-13);
  EXPECT_EQ(subsession_size(ferrari, subsession_limit), 4U);
  expect_relative(2.0 * subsession_half_width(ferrari, 4, 0.95), 0.29157062128900485, 1e-12);
}

TEST(Autocorrelation, IsThatOfNist) {
  expect_relative(mean_value(lew), -177.435000000000, 1e-15);
  expect_relative(deviation(lew), 277.332168044316, 1e-14);
  expect_relative(lag_one_autocorrelation(lew), -0.307304800605679, 1e-14);
  expect_relative(mean_value(lottery), 518.958715596330, 1e-14);
  expect_relative(deviation(lottery), 291.699727470969, 1e-14);
  expect_relative(lag_one_autocorrelation(lottery), -0.120948622967393, 1e-13);
}

TEST(Line, IsThatOfNistForNorris) {
  const std::vector<double> y{0.1, 338.8, 118.1, 888.0, 9.2,   228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3,
                              0.1, 778.1, 668.8, 339.3, 448.9, 10.8,  557.7, 228.3, 998.0, 888.8, 119.6, 0.3,
                              0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2,  117.6, 228.9, 668.4, 449.2, 0.2};
  const std::vector<double> x{0.2, 337.4, 118.2, 884.6, 10.1,  226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4,
                              0.6, 775.5, 666.9, 338.0, 447.5, 11.6,  556.0, 228.1, 995.8, 887.6, 120.2, 0.3,
                              0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1,  118.3, 229.2, 669.1, 448.9, 0.5};
  const Eigen::Map<const Eigen::ArrayXd> work(x.data(), 36);
  const Eigen::Map<const Eigen::ArrayXd> seconds(y.data(), 36);
  const std::optional<Line> line = fit_line(work, seconds, Eigen::ArrayXd::Ones(36));
  ASSERT_TRUE(line);
  expect_relative(line->intercept, -0.262323073774029, 1e-11);
  expect_relative(line->slope, 1.00211681802045, 1e-13);
  expect_relative(line->intercept_error, 0.232818234301152, 1e-12);
  expect_relative(line->slope_error, 0.429796848199937e-03, 1e-12);
  expect_relative(line->residual_deviation(), 0.884796396144373, 1e-12);
  expect_relative(line->r_squared(), 0.999993745883712, 1e-14);
}

TEST(Line, IsThatOfNistThroughTheOrigin) {
  const Eigen::ArrayXd x = Eigen::ArrayXd::LinSpaced(11, 60.0, 70.0);
  const Eigen::ArrayXd y = Eigen::ArrayXd::LinSpaced(11, 130.0, 140.0);
  const std::optional<Line> line = fit_line_through_origin(x, y);
  ASSERT_TRUE(line);
  expect_relative(line->slope, 2.07438016528926, 1e-14);
  expect_relative(line->slope_error, 0.0165289256198347, 1e-13);
  expect_relative(line->residual_deviation(), 3.56753034006338, 1e-13);
  expect_relative(line->r_squared(), 0.999365492298663, 1e-14);
}

// Both from tables of Student's distribution.
TEST(Student, HasTheQuantilesOfTheTables) {
  EXPECT_NEAR(student_quantile_of_interval(0.95, 4.0), 2.776445, 1e-6);
  EXPECT_NEAR(student_quantile_of_interval(0.90, 10.0), 1.812461, 1e-6);
}

TEST(RandomEffects, AreThePlainMeanWhereErrorsAreAlike) {
  const std::vector<double> values{10.0, 10.3, 9.8, 10.1, 10.4};
  for (const double error : {0.0, 1e-6, 0.1, 50.0}) {
    const WeightedMean mean = random_effects_mean(values, std::vector<double>(5, error));
    EXPECT_NEAR(mean.mean, mean_value(values), 1e-9) << error;
    EXPECT_NEAR(mean.error, deviation(values) / std::sqrt(5.0), 1e-9) << error;
  }
}

// The root is where the weighted squares are one less than the number of values (Paule and Mandel).
TEST(RandomEffects, FindTheVarianceBetweenValues) {
  const std::vector<double> values{1.0, 3.0, 2.0, 6.0, 4.5};
  const std::vector<double> errors{0.5, 0.6, 0.8, 0.5, 0.7};
  const WeightedMean mean = random_effects_mean(values, errors);
  EXPECT_GT(mean.between_variance, 1.0);
  double squares = 0.0;
  for (const double distance : mean.standardized) squares += distance * distance;
  EXPECT_NEAR(squares, 4.0, 1e-6);
}

TEST(RandomEffects, TrustTheValueThatIsKnownBest) {
  const WeightedMean mean = random_effects_mean(std::vector{10.0, 10.1, 14.0}, std::vector{0.1, 0.1, 5.0});
  EXPECT_NEAR(mean.mean, 10.05, 0.01);
}

TEST(RandomEffects, DoNotBelieveThatOneValueIsExact) {
  const WeightedMean mean = random_effects_mean(std::vector{9.0, 10.0, 10.0}, std::vector{1e-9, 1.0, 1.0});
  EXPECT_GT(mean.mean, 9.2);
}

TEST(RandomEffects, LetTheFewThatAreKnownMuchBetterOutweighManyOthers) {
  std::vector<double> values{4.0, 16.0, 7.0, 13.0, 9.0, 11.0, 5.0, 15.0, 6.0, 14.0, 10.0};
  std::vector<double> errors(values.size(), 5.0);
  const std::vector<double> well_known{12.1, 11.9, 12.2, 11.8, 12.0};
  values.insert(values.end(), well_known.begin(), well_known.end());
  errors.insert(errors.end(), well_known.size(), 0.2);
  const WeightedMean mean = random_effects_mean(values, errors, MuchBetterKnown::outweigh_others);
  EXPECT_NEAR(mean.mean, 12.0, 0.02);
  EXPECT_NEAR(mean.error, deviation(well_known) / std::sqrt(5.0), 0.01);
  EXPECT_NEAR(mean.freedom, 4.0, 0.2);
}

TEST(RandomEffects, DoNotBelieveThatFourValuesOutOfManyAreExact) {
  std::vector<double> values{9.0, 9.0, 9.0, 9.0};
  std::vector<double> errors(4, 1e-9);
  values.insert(values.end(), 10, 10.0);
  errors.insert(errors.end(), 10, 1.0);
  EXPECT_GT(random_effects_mean(values, errors, MuchBetterKnown::outweigh_others).mean, 9.3);
}

RepeatedRun run_of(double measured, double undisturbed, double error = 0.002) {
  RepeatedRun run{.measured_seconds = measured, .hosts = {"node"}};
  const double reach = error * undisturbed;
  run.undisturbed = {undisturbed, {undisturbed - reach, undisturbed + reach}};
  run.verdict = verdict_of(100.0 * (1.0 - undisturbed / measured));
  return run;
}

std::vector<RepeatedRun> quiet_runs(const std::vector<double>& seconds) {
  std::vector<RepeatedRun> runs;
  for (const double one : seconds) runs.push_back(run_of(one, one));
  return runs;
}

const std::vector<double> steady{100.1, 99.8, 100.2, 99.9, 100.0, 100.3, 99.7, 100.1, 99.9};

TEST(Series, HasThreeMeansSideBySide) {
  std::vector<RepeatedRun> runs = quiet_runs(steady);
  runs.push_back(run_of(130.0, 100.1, 0.02));
  const SeriesSummary series = summarise(runs, {});
  EXPECT_EQ(series.measured.runs, 10U);
  EXPECT_NEAR(series.measured.mean_seconds, 103.0, 0.01);
  EXPECT_EQ(series.quiet.runs, 9U);
  EXPECT_NEAR(series.quiet.mean_seconds, 100.0, 0.01);
  EXPECT_EQ(series.undisturbed.runs, 10U);
  EXPECT_NEAR(series.undisturbed.mean_seconds, 100.0, 0.02);
  EXPECT_LT(*series.undisturbed.half_width_percent(), 0.5);
  EXPECT_GT(*series.measured.half_width_percent(), 5.0);
  EXPECT_LT(*series.undisturbed.runs_needed, 5U);
  EXPECT_GT(*series.measured.runs_needed, 100U);
  EXPECT_FALSE(series.contradiction);
}

TEST(Series, LeavesOutWhatFailedOrDidOtherWork) {
  std::vector<RepeatedRun> runs = quiet_runs(steady);
  runs[1].end = RunEnd::failed;
  runs[2].end = RunEnd::other_work;
  runs[3].undisturbed.reset();
  runs[3].verdict = Verdict::unknown;
  runs[4].hosts = {"node", "other"};
  const SeriesSummary series = summarise(runs, {.warm_up_runs = 1});
  EXPECT_EQ(series.unused[0], Unused::warm_up);
  EXPECT_EQ(series.unused[1], Unused::failed);
  EXPECT_EQ(series.unused[2], Unused::other_work);
  EXPECT_EQ(series.unused[3], Unused::no_estimate);
  EXPECT_EQ(series.unused[4], std::nullopt);
  EXPECT_EQ(series.measured.runs, 6U);
  EXPECT_EQ(series.quiet.runs, 5U);
  EXPECT_EQ(series.undisturbed.runs, 5U);
  EXPECT_EQ(series.hosts, 2U);
}

TEST(Series, OfOneRunHasNoInterval) {
  const SeriesSummary series = summarise(quiet_runs({100.0}), {});
  EXPECT_EQ(series.undisturbed.runs, 1U);
  EXPECT_FALSE(series.undisturbed.interval_seconds);
  EXPECT_FALSE(series.undisturbed.runs_needed);
  EXPECT_EQ(summarise({}, {}).undisturbed.runs, 0U);
}

// What all runs may have wrong in common is not made smaller by more runs.
TEST(Mean, IsNotKnownBetterThanTheRunsTogetherAllow) {
  std::vector<RepeatedRun> runs;
  for (const double seconds : steady) runs.push_back(run_of(110.0, seconds, 0.03));
  const MeanTime mean = summarise(runs, {.precision = {.within_percent = 1.0}}).undisturbed;
  EXPECT_NEAR(mean.floor_percent(), 3.0, 0.01);
  EXPECT_GT(*mean.half_width_percent(), mean.floor_percent());
  EXPECT_FALSE(mean.runs_needed);
  EXPECT_GT(*mean.half_width_percent_after(1000), mean.floor_percent());
}

TEST(Mean, ReachesFurtherToTheSideWhereTheRunsKnowLess) {
  std::vector<RepeatedRun> runs = quiet_runs(steady);
  for (RepeatedRun& run : runs) run.undisturbed->interval_seconds.low -= 2.0;
  const MeanTime mean = summarise(runs, {}).undisturbed;
  EXPECT_GT(mean.mean_seconds - mean.interval_seconds->low, 2.0);
  EXPECT_LT(mean.interval_seconds->high - mean.mean_seconds, 0.5);
}

TEST(Mean, NeedsFourTimesTheRunsForHalfTheWidth) {
  std::vector<double> seconds;
  for (int i = 0; i < 200; ++i) seconds.push_back(100.0 + 3.0 * std::sin(2.4 * i));
  const MeanTime wide = mean_of(seconds, {.within_percent = 0.5});
  const MeanTime narrow = mean_of(seconds, {.within_percent = 0.25});
  EXPECT_NEAR(static_cast<double>(*narrow.runs_needed) / static_cast<double>(*wide.runs_needed), 4.0, 0.3);
}

TEST(Mean, HasAnIntervalThatEndsAtZeroAndTheWidthOfTheWholeOne) {
  const MeanTime mean = mean_of(std::vector{1.0, 0.2, 3.0}, {});
  EXPECT_EQ(mean.interval_seconds->low, 0.0);
  EXPECT_NEAR(*mean.half_width_percent(), 100.0 * (mean.interval_seconds->high / mean.mean_seconds - 1.0), 1e-9);
  EXPECT_NEAR(*mean.half_width_percent(), *mean.half_width_percent_after(3), 1e-9);
}

TEST(Dependence, WidensTheIntervalOfCorrelatedRuns) {
  const Dependence dependence = dependence_of(ferrari, 0.95);
  EXPECT_TRUE(dependence.is_significant);
  EXPECT_EQ(dependence.subsession_runs, 4U);
  EXPECT_GT(dependence.variance_factor, 3.0);
  const Dependence other = dependence_of(lottery, 0.95);
  EXPECT_FALSE(other.is_significant);
  EXPECT_EQ(other.subsession_runs, 1U);
  EXPECT_LT(other.variance_factor, 1.1);
}

TEST(WarmUp, IsTheFirstRunsThatDiffer) {
  std::vector<double> seconds = steady;
  seconds[0] = 120.0;
  seconds[1] = 112.0;
  EXPECT_EQ(warm_up_runs(quiet_runs(seconds)), 2U);
  EXPECT_EQ(summarise(quiet_runs(seconds), {.warm_up_runs = std::nullopt}).undisturbed.runs, 7U);
  EXPECT_EQ(warm_up_runs(quiet_runs(steady)), 0U);
}

TEST(WarmUp, EndsAtTheFirstRunThatDoesNotDiffer) {
  std::vector<double> seconds = steady;
  seconds[1] = 120.0;
  EXPECT_EQ(warm_up_runs(quiet_runs(seconds)), 0U);
}

TEST(WarmUp, IsNotFoundAmongTooFewRuns) {
  EXPECT_EQ(warm_up_runs(quiet_runs({150.0, 100.0, 100.1, 99.9})), 0U);
  EXPECT_EQ(warm_up_runs(quiet_runs({150.0, 100.0, 100.1, 99.9, 100.2})), 1U);
}

TEST(Contradiction, IsSaidWhereRedRunsAgreeOnAnotherTime) {
  std::vector<RepeatedRun> runs = quiet_runs(steady);
  for (int i = 0; i < 5; ++i) runs.push_back(run_of(130.0 + i, 90.0 + 0.1 * i, 0.01));
  const SeriesSummary series = summarise(runs, {});
  ASSERT_TRUE(series.contradiction);
  EXPECT_EQ(series.contradiction->code, ContradictionCode::disturbed_runs_lower);
  EXPECT_NEAR(series.contradiction->difference_percent, -9.8, 0.1);
}

TEST(Contradiction, IsSaidWhereTheUndisturbedMeanLiesAboveTheQuietOne) {
  std::vector<RepeatedRun> runs;
  for (const double seconds : steady) runs.push_back(run_of(seconds, seconds + 5.0));
  ASSERT_TRUE(summarise(runs, {}).contradiction);
  EXPECT_EQ(summarise(runs, {}).contradiction->code, ContradictionCode::above_quiet);
}

bool has(const SeriesSummary& series, CaveatCode code) {
  for (const Caveat& caveat : series.caveats) {
    if (caveat.code == code) return true;
  }
  return false;
}

TEST(Caveats, SayWhatTheIntervalIsWorth) {
  std::vector<RepeatedRun> runs;
  for (int i = 0; i < 12; ++i) runs.push_back(run_of(130.0, 100.0 + 0.5 * i));
  const SeriesSummary series = summarise(runs, {});
  EXPECT_TRUE(has(series, CaveatCode::drift));
  EXPECT_TRUE(has(series, CaveatCode::correlated));
  EXPECT_TRUE(has(series, CaveatCode::all_disturbed));
  EXPECT_FALSE(has(series, CaveatCode::few_runs));
  EXPECT_TRUE(has(summarise(quiet_runs(steady), {}), CaveatCode::few_runs));
  EXPECT_FALSE(has(summarise(quiet_runs(steady), {}), CaveatCode::drift));
}

TEST(Caveats, DoNotSayThatRunsAreTooFewToShowACorrelationThatTheyShow) {
  const SeriesSummary series = summarise(quiet_runs({100.0, 100.1, 100.2, 100.4, 100.5, 100.7, 100.8, 101.0}), {});
  EXPECT_TRUE(has(series, CaveatCode::correlated));
  EXPECT_FALSE(has(series, CaveatCode::few_runs));
}

TEST(Looks, AreAFixedSchedule) {
  std::vector<std::size_t> looks;
  for (std::size_t runs = 0; runs <= 60; ++runs) {
    if (is_look(runs, 5)) looks.push_back(runs);
  }
  EXPECT_EQ(looks, (std::vector<std::size_t>{5, 7, 10, 14, 20, 28, 40, 56}));
  EXPECT_EQ(next_look(15, 5), 20U);
  EXPECT_EQ(next_look(0, 3), 3U);
}

KnownSoFar known(std::size_t runs, double half_width_percent, std::size_t runs_needed, double floor_percent = 0.0) {
  return {runs, half_width_percent, floor_percent, runs_needed,
          [=](std::size_t all) { return half_width_percent * std::sqrt(double(runs) / double(all)); }};
}

TEST(Stopping, IsByWidthAtLooksOnly) {
  const StoppingRule rule{.within_percent = 1.0};
  EXPECT_EQ(outlook_of(known(7, 0.9, 6), rule, {}).stopped_because, StoppedBecause::width);
  EXPECT_EQ(outlook_of(known(8, 0.9, 6), rule, {}).stopped_because, std::nullopt);
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), rule, {}).stopped_because, std::nullopt);
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), rule, {}).expected_runs, 10U);
  EXPECT_EQ(outlook_of(known(3, 0.1, 2), rule, {}).stopped_because, std::nullopt);
  EXPECT_EQ(outlook_of(known(3, 0.1, 2), rule, {}).expected_runs, 5U);
}

TEST(Stopping, IsByTheLimitsThatWereSet) {
  const StoppingRule rule{.within_percent = 1.0, .most_runs = 8, .most_seconds = 1000.0};
  EXPECT_EQ(outlook_of(known(8, 2.0, 30), rule, {10.0, 1.0, false}).stopped_because, StoppedBecause::max_runs);
  EXPECT_EQ(outlook_of(known(8, 0.9, 6), rule, {10.0, 1.0, false}).stopped_because, StoppedBecause::width);
  EXPECT_EQ(outlook_of(known(6, 2.0, 30), rule, {950.0, 100.0, false}).stopped_because, StoppedBecause::time);
  EXPECT_EQ(outlook_of(known(6, 2.0, 30), rule, {10.0, 1.0, true}).stopped_because, StoppedBecause::interrupted);
}

TEST(Stopping, IsByTheNumberThatWasAskedForHoweverNarrowTheIntervalIs) {
  const StoppingRule rule{
      .within_percent = 1.0, .least_runs = 4, .most_runs = 4, .most_seconds = 1000.0, .is_exact = true};
  EXPECT_EQ(outlook_of(known(3, 0.1, 2), rule, {}).stopped_because, std::nullopt);
  EXPECT_EQ(outlook_of(known(4, 0.1, 2), rule, {}).stopped_because, StoppedBecause::max_runs);
  EXPECT_EQ(outlook_of(known(4, 0.1, 2), rule, {}).expected_runs, 4U);
  EXPECT_EQ(outlook_of(known(4, 2.0, 30), rule, {}).stopped_because, StoppedBecause::max_runs);
  EXPECT_EQ(outlook_of(known(3, 0.1, 2), rule, {950.0, 100.0, false}).stopped_because, StoppedBecause::time);
}

TEST(Stopping, CountsRunsWithoutAnEstimate) {
  const StoppingRule rule{.within_percent = 1.0, .most_runs = 8};
  EXPECT_EQ(outlook_of(known(6, 2.0, 30), rule, {.without_estimate = 2}).stopped_because, StoppedBecause::max_runs);
  EXPECT_EQ(outlook_of(known(6, 2.0, 30), rule, {.without_estimate = 1}).stopped_because, std::nullopt);
  EXPECT_EQ(outlook_of(known(6, 2.0, 30), rule, {.without_estimate = 1}).possible_runs, 7U);
}

TEST(Stopping, ExpectsNoMoreRunsThanTheLimitsAllowAndTheWarmUpAmongThem) {
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), {.within_percent = 1.0}, {}).expected_further, 3U);
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), {.within_percent = 1.0}, {}).most_further, std::nullopt);
  const StoppingRule by_runs{.within_percent = 1.0, .most_runs = 9};
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), by_runs, {}).expected_further, 2U);
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), by_runs, {}).most_further, 2U);
  const StoppingRule by_time{.within_percent = 1.0, .most_seconds = 1000.0};
  EXPECT_EQ(outlook_of(known(7, 1.1, 9), by_time, {.elapsed_seconds = 750.0, .seconds_per_run = 100.0}).most_further,
            2U);
  // Nothing is known yet, but how many runs there can be is.
  const Outlook at_first = outlook_of({}, by_runs, {.warm_up_left = 3, .most_warm_up_left = 3});
  EXPECT_EQ(at_first.most_further, 12U);
  EXPECT_EQ(at_first.possible_runs, 9U);
  EXPECT_EQ(outlook_of(known(2, 9.0, 50), {}, {.warm_up_left = 1, .most_warm_up_left = 1}).expected_further, 55U);
}

TEST(Stopping, SaysWhatCanBeReached) {
  const StoppingRule rule{.within_percent = 1.0, .most_seconds = 1000.0};
  const Outlook outlook = outlook_of(known(10, 4.0, 160), rule, {400.0, 20.0, false});
  EXPECT_EQ(outlook.possible_runs, 40U);
  EXPECT_NEAR(*outlook.reachable_percent, 2.0, 1e-9);
  EXPECT_FALSE(outlook.is_reachable);
  EXPECT_TRUE(outlook_of(known(10, 4.0, 160), {.within_percent = 1.0}, {}).is_reachable);
}

TEST(Stopping, IsByTheFloorOnceThatIsKnown) {
  const StoppingRule rule{.within_percent = 1.0};
  KnownSoFar below = known(7, 2.0, 0, 1.8);
  below.runs_needed.reset();
  EXPECT_EQ(outlook_of(below, rule, {}).stopped_because, std::nullopt);
  EXPECT_FALSE(outlook_of(below, rule, {}).is_reachable);
  below.runs = 10;
  EXPECT_EQ(outlook_of(below, rule, {}).stopped_because, StoppedBecause::floor);
}

std::vector<RunPair> pairs_from(truth::SeriesSource source, std::size_t count, double slower, double reach_of_b) {
  std::vector<RunPair> pairs;
  const auto next_of_b = [&] { return source.next_of_other(slower, reach_of_b); };
  for (std::size_t pair = 0; pair < count; ++pair) {
    const bool is_b_first = turns_of_round(2, pair).front() == 1;
    const RepeatedRun first = is_b_first ? next_of_b() : source.next();
    const RepeatedRun second = is_b_first ? source.next() : next_of_b();
    pairs.push_back(is_b_first ? RunPair{second, first} : RunPair{first, second});
  }
  return pairs;
}

std::vector<RunPair> pairs_with(double slower, std::size_t count, std::uint64_t seed) {
  return pairs_from({{.disturbed = 0.3}, seed}, count, slower, 1.0);
}

TEST(Versus, TellsWhichIsFaster) {
  const Precision precision{.within_percent = 2.0};
  EXPECT_EQ(compare_pairs(pairs_with(1.05, 10, 1), precision).verdict, VersusVerdict::slower);
  EXPECT_EQ(compare_pairs(pairs_with(0.95, 10, 2), precision).verdict, VersusVerdict::faster);
  EXPECT_EQ(compare_pairs(pairs_with(1.0, 10, 3), precision).verdict, VersusVerdict::same);
  EXPECT_EQ(compare_pairs(pairs_with(1.0, 1, 4), precision).verdict, VersusVerdict::unclear);
  EXPECT_EQ(compare_pairs(pairs_with(1.0, 3, 5), {.within_percent = 0.01}).verdict, VersusVerdict::unclear);
}

TEST(Versus, GivesTheRatioByPairsAndByWelch) {
  const Versus versus = compare_pairs(pairs_with(1.05, 20, 6), {.within_percent = 2.0});
  EXPECT_NEAR(versus.undisturbed.ratio, 1.05, 0.005);
  EXPECT_LT(versus.undisturbed.interval->low, 1.05);
  EXPECT_GT(versus.undisturbed.interval->high, 1.05);
  EXPECT_LT(versus.undisturbed.welch->low, 1.05);
  EXPECT_GT(versus.undisturbed.welch->high, 1.05);
  EXPECT_LT(*versus.undisturbed.half_width_percent(), *versus.measured.half_width_percent());
  EXPECT_LT(*versus.undisturbed.pairs_needed, *versus.measured.pairs_needed);
}

TEST(Versus, HasTheDifferenceOfBothReachesForAFloor) {
  std::vector<RunPair> pairs = pairs_with(1.0, 20, 10);
  for (RunPair& pair : pairs) {
    pair.a.undisturbed->interval_seconds = {0.98 * pair.a.undisturbed->seconds, 1.01 * pair.a.undisturbed->seconds};
    pair.b.undisturbed->interval_seconds = {0.97 * pair.b.undisturbed->seconds, 1.05 * pair.b.undisturbed->seconds};
  }
  const Versus versus = compare_pairs(pairs, {.within_percent = 2.0});
  EXPECT_NEAR(versus.undisturbed.log_floor_below, 0.01, 1e-9);
  EXPECT_NEAR(versus.undisturbed.log_floor_above, 0.04, 1e-9);
  EXPECT_NEAR(versus.undisturbed.floor_percent(), 100.0 * std::sinh(0.025), 1e-6);
  EXPECT_GT(*versus.undisturbed.half_width_percent_after(1'000'000), versus.undisturbed.floor_percent());
  EXPECT_FALSE(versus.undisturbed.pairs_needed);
  EXPECT_TRUE(compare_pairs(pairs, {.within_percent = 8.0}).undisturbed.pairs_needed);
  EXPECT_EQ(versus.measured.floor_percent(), 0.0);
}

// Every run of B is longer by what its own estimate takes to come from outside.
std::vector<RunPair> pairs_with_interference_of_b(double dilation, std::size_t count, std::uint64_t seed) {
  std::vector<RunPair> pairs = pairs_with(1.0, count, seed);
  for (RunPair& pair : pairs) pair.b.measured_seconds *= dilation;
  return pairs;
}

TEST(Versus, CountsWhatFollowsAProgramAsThePrograms) {
  const Precision precision{.within_percent = 2.0};
  for (const double dilation : {1.5, 0.7}) {
    const Versus versus = compare_pairs(pairs_with_interference_of_b(dilation, 20, 3), precision);
    EXPECT_EQ(versus.attribution, Attribution::program);
    EXPECT_EQ(versus.verdict, dilation > 1.0 ? VersusVerdict::slower : VersusVerdict::faster);
    EXPECT_EQ(versus.answer().ratio, versus.measured.ratio);
    EXPECT_NEAR(versus.interference.ratio, dilation, 0.2);
  }
}

TEST(Versus, KnowsFromTheKernelThatANeighbourMetOneOfBothMoreOften) {
  std::size_t open = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<RunPair> pairs = pairs_with_interference_of_b(1.03, 5, seed);
    if (compare_pairs(pairs, {}).attribution == Attribution::open) ++open;
    for (RunPair& pair : pairs) {
      for (RepeatedRun* run : {&pair.a, &pair.b}) {
        run->lost_to_cpu_waits_seconds = run->measured_seconds - run->undisturbed->seconds;
      }
    }
    EXPECT_NE(compare_pairs(pairs, {}).attribution, Attribution::open) << seed;
  }
  EXPECT_GT(open, 5U);
}

TEST(Versus, SeldomTakesAProgramsOwnTimeForANeighboursThatMetTheOther) {
  std::size_t mistaken = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<RunPair> pairs = pairs_with_interference_of_b(1.2, 10, seed);
    for (RunPair& pair : pairs) {
      pair.a.lost_to_cpu_waits_seconds = 0.2 * pair.a.measured_seconds;
      pair.a.measured_seconds *= 1.2;
    }
    if (compare_pairs(pairs, {}).attribution == Attribution::outside) ++mistaken;
  }
  EXPECT_LE(mistaken, 5U);  // of 50: by the measured times alone, nearly all
}

TEST(Versus, CallsProgramsTheSameIfBothTimesSaySoWhoseverTheInterferenceIs) {
  std::size_t open = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<RunPair> pairs = pairs_from({{.disturbed = 0.0}, seed}, 20, 1.0, 1.0);
    for (RunPair& pair : pairs) pair.b.measured_seconds *= 1.002;
    const Versus versus = compare_pairs(pairs, {.within_percent = 2.0});
    if (versus.attribution != Attribution::open) continue;
    ++open;
    EXPECT_EQ(versus.verdict, VersusVerdict::same) << seed;
  }
  EXPECT_GT(open, 5U);
}

TEST(Versus, NeverCallsProgramsTheSameWhoseMeasuredTimesDiffer) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const std::size_t pairs : {5U, 10U}) {
      const Versus versus = compare_pairs(pairs_with_interference_of_b(1.2, pairs, seed), {.within_percent = 2.0});
      EXPECT_NE(versus.verdict, VersusVerdict::faster) << seed;
      EXPECT_NE(versus.verdict, VersusVerdict::contradiction) << seed;
      EXPECT_TRUE(versus.verdict != VersusVerdict::same || versus.measured.interval->high > 1.2) << seed;
    }
  }
}

TEST(Versus, OfOppositeAnswersIsAContradiction) {
  std::vector<RunPair> pairs = pairs_with(0.9, 40, 11);
  for (RunPair& pair : pairs) pair.b.measured_seconds *= 1.6;
  EXPECT_EQ(compare_pairs(pairs, {.within_percent = 2.0}).verdict, VersusVerdict::contradiction);
}

TEST(Versus, SeldomBlamesAProgramForItsNeighbours) {
  std::size_t blamed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const std::size_t pairs : {5U, 10U}) {
      blamed += compare_pairs(pairs_with(1.0, pairs, seed), {}).attribution == Attribution::program ? 1 : 0;
    }
  }
  EXPECT_LE(blamed, 2U);  // of 200 looks
}

TEST(Versus, LeavesOutPairsWithARunThatFailedOrIsWarmUp) {
  std::vector<RunPair> pairs = pairs_with(1.0, 6, 7);
  pairs[0].is_warm_up = true;
  pairs[2].b.end = RunEnd::failed;
  pairs[3].a.undisturbed.reset();
  const Versus versus = compare_pairs(pairs, {});
  EXPECT_EQ(versus.undisturbed.pairs, 3U);
  EXPECT_EQ(versus.measured.pairs, 3U);
  EXPECT_EQ(versus.pairs_left_out, 3U);
}

TEST(Versus, IsClearWhereverTheRatioIsIfTheIntervalIsAsNarrowAsPairsAreMadeFor) {
  for (const double within : {0.01, 0.05, 0.5}) {
    const double half_width = std::asinh(versus_half_width_percent(100.0 * within) / 100.0);
    for (const double middle : {-half_width, 0.0, half_width}) {
      EXPECT_LE(std::exp(middle + half_width), 1.0 + within + 1e-12);
      EXPECT_GE(std::exp(middle - half_width), 1.0 - within - 1e-12);
    }
  }
}

TEST(FalseAlarms, AreRareWithAAgainstItself) {
  const std::optional<double> share = false_alarm_share(pairs_with(1.0, 12, 8), {.within_percent = 0.1}, 200, 1);
  ASSERT_TRUE(share);
  EXPECT_LT(*share, 0.08);
  EXPECT_FALSE(false_alarm_share(pairs_with(1.0, 4, 9), {}, 100, 1));
}

TEST(Work, GoesThroughTheRangeFromItsEndsInwards) {
  std::vector<std::uint64_t> work;
  for (std::size_t run = 0; run < 7; ++run) work.push_back(work_of_run(run, {1000, 17000}));
  EXPECT_EQ(work, (std::vector<std::uint64_t>{1000, 17000, 9000, 5000, 13000, 3000, 11000}));
}

TEST(Work, HasAFixedCostAndACostOfAUnit) {
  std::vector<WorkedRun> runs;
  for (std::size_t i = 0; i < 12; ++i) {
    const auto work = static_cast<double>(work_of_run(i, {1000, 16000}));
    runs.push_back({work, {(2.0 + 0.004 * work) * (1.0 + 0.002 * std::sin(2.0 * static_cast<double>(i)))}});
  }
  const std::optional<WorkRate> rate = work_rate(runs, 0.95);
  ASSERT_TRUE(rate);
  EXPECT_LT(rate->fixed.interval_seconds.low, 2.0);
  EXPECT_GT(rate->fixed.interval_seconds.high, 2.0);
  EXPECT_LT(rate->rate_interval->low, 250.0);
  EXPECT_GT(rate->rate_interval->high, 250.0);
  EXPECT_TRUE(rate->caveats.empty());
}

TEST(Work, SaysWhereALineDoesNotFit) {
  std::vector<WorkedRun> runs;
  for (std::size_t i = 0; i < 12; ++i) {
    const auto work = static_cast<double>(work_of_run(i, {1000, 1900}));
    runs.push_back({work, {1e-6 * work * work * (1.0 + 0.001 * std::sin(2.0 * static_cast<double>(i)))}});
  }
  const std::optional<WorkRate> rate = work_rate(runs, 0.95);
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->caveats,
            (std::vector{WorkCaveat::narrow_range, WorkCaveat::not_linear, WorkCaveat::negative_fixed_cost}));
}

// A fixed cost of 2 s and 4 ms for each unit. Each interval reaches from the estimate to the truth, which lies above
// it, and as far to the other side.
std::vector<WorkedRun> runs_wrong_by(const std::function<double(double true_seconds)>& error) {
  std::vector<WorkedRun> runs;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto work = static_cast<double>(work_of_run(i, {1000, 16000}));
    const double truth = 2.0 + 0.004 * work;
    const double reach = error(truth);
    const double estimate = truth - reach;
    runs.push_back({work, UncertainTime::of(estimate, interval_around(estimate, 1.001 * reach), interval_confidence)});
  }
  return runs;
}

bool holds(const EstimatedCost& cost, double truth) {
  return cost.interval_seconds.low <= truth && truth <= cost.interval_seconds.high;
}

TEST(Work, HasCostsWhoseIntervalsHoldTheTruthThoughAllRunsAreWrongAlike) {
  const auto of_time = [](double seconds) { return 0.05 * seconds; };
  const auto same_for_all = [](double) { return 0.5; };
  const auto less_for_long_runs = [](double seconds) { return 0.1 * std::sqrt(seconds); };
  for (const auto& error : std::vector<std::function<double(double)>>{of_time, same_for_all, less_for_long_runs}) {
    const std::optional<WorkRate> rate = work_rate(runs_wrong_by(error), 0.95);
    ASSERT_TRUE(rate);
    EXPECT_TRUE(holds(rate->fixed, 2.0)) << rate->fixed.seconds;
    EXPECT_TRUE(holds(rate->unit, 0.004)) << rate->unit.seconds;
  }
}

TEST(Work, HasAFloorThatMoreRunsDoNotLower) {
  const WorkRate rate = *work_rate(runs_wrong_by([](double seconds) { return 0.05 * seconds; }), 0.95);
  EXPECT_NEAR(*rate.floor_percent(), 100.0 * 0.05 / 0.95, 0.01);
  EXPECT_NEAR(*rate.half_width_percent(), *rate.floor_percent(), 1e-6) << "the times do not scatter";
  EXPECT_FALSE(rate.runs_needed(5.0));
  EXPECT_EQ(rate.runs_needed(6.0), 3U);
  EXPECT_EQ(outlook_of(known_so_far(rate, 5.0), {.within_percent = 5.0, .least_runs = 4}, {}).stopped_because,
            std::nullopt);
  std::vector<WorkedRun> more = runs_wrong_by([](double seconds) { return 0.05 * seconds; });
  more.insert(more.end(), more.begin(), more.begin() + 2);
  EXPECT_EQ(outlook_of(known_so_far(*work_rate(more, 0.95), 5.0), {.within_percent = 5.0}, {}).stopped_because,
            StoppedBecause::floor);
  // An error that is the same for all amounts is none of a unit's cost.
  EXPECT_NEAR(*work_rate(runs_wrong_by([](double) { return 0.5; }), 0.95)->floor_percent(), 0.0, 1e-6);
}

TEST(Work, NeedsFourTimesTheRunsForHalfTheWidth) {
  std::vector<WorkedRun> runs;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto work = static_cast<double>(work_of_run(i, {1000, 16000}));
    runs.push_back({work, {(2.0 + 0.004 * work) * (1.0 + (i % 2 == 0 ? 0.01 : -0.01))}});
  }
  const WorkRate rate = *work_rate(runs, 0.95);
  EXPECT_NEAR(*rate.half_width_percent_after(160), 0.5 * *rate.half_width_percent(), 0.02 * *rate.half_width_percent());
  EXPECT_EQ(rate.runs_needed(*rate.half_width_percent()), 40U);
}

TEST(Work, HasARateWithoutAnUpperEndIfTheCostOfAUnitMayBeZero) {
  const auto runs_at = [](double second, double third) {
    return std::vector<WorkedRun>{{10.0, {1.0}}, {20.0, {second}}, {30.0, {third}}};
  };
  const WorkRate rising = *work_rate(runs_at(1.5, 1.1), 0.95);
  EXPECT_FALSE(rising.half_width_percent());
  EXPECT_NEAR(*rising.units_per_second, 1.0 / rising.unit.seconds, 1e-9);
  EXPECT_NEAR(rising.rate_interval->low, 1.0 / rising.unit.interval_seconds.high, 1e-9);
  EXPECT_EQ(rising.rate_interval->high, HUGE_VAL);
  const WorkRate falling = *work_rate(runs_at(0.8, 0.7), 0.95);
  EXPECT_FALSE(falling.units_per_second);
  EXPECT_FALSE(falling.rate_interval);
}

TEST(Work, IsNotKnownFromOneAmount) {
  EXPECT_FALSE(work_rate(std::vector<WorkedRun>{{10.0, {1.0}}, {10.0, {1.1}}, {10.0, {0.9}}}, 0.95));
  EXPECT_FALSE(work_rate(std::vector<WorkedRun>{{10.0, {1.0}}, {20.0, {1.1}}}, 0.95));
}

// The share of simulated series whose interval holds the truth when the series stops on its width.
// bench/simulated_series does the same for many more kinds of series.
double share_held(const truth::SeriesLaw& law, const Precision& precision, std::size_t series) {
  std::size_t held = 0;
  for (std::size_t seed = 0; seed < series; ++seed) {
    truth::SeriesSource source(law, seed);
    std::vector<UncertainTime> runs;
    MeanTime mean;
    while (!mean.interval_seconds || *mean.half_width_percent() > precision.within_percent) {
      const std::size_t look = next_look(runs.size() + 1, default_least_runs);
      while (runs.size() < look) runs.push_back(source.next().undisturbed->uncertain());
      mean = mean_of(runs, precision);
    }
    held += mean.interval_seconds->low <= law.seconds && law.seconds <= mean.interval_seconds->high ? 1 : 0;
  }
  return static_cast<double>(held) / static_cast<double>(series);
}

TEST(Interval, HoldsTheTruthWhenASeriesStops) {
  const Precision scatter_alone{.within_percent = 1.0, .shared_error = 0.0};
  EXPECT_NEAR(share_held({.disturbed = 0.3}, scatter_alone, 150), 0.95, 0.04);
  EXPECT_NEAR(share_held({.deviation = 0.01, .disturbed = 0.5}, scatter_alone, 150), 0.95, 0.04);
  EXPECT_NEAR(share_held({.correlation = 0.3, .disturbed = 0.3}, scatter_alone, 150), 0.95, 0.04);
}

TEST(Interval, HoldsTheTruthThoughAllRunsAreWrongAlike) {
  const truth::SeriesLaw law{.disturbed = 0.3, .has_shared_error = true};
  EXPECT_GE(share_held(law, {.within_percent = 1.5}, 100), 0.92);
  EXPECT_LT(share_held(law, {.within_percent = 0.4, .shared_error = 0.0}, 100), 0.85);
}

TEST(Interval, HoldsTheTruthAndIsNarrowThoughTheFirstRunsWereHeavilyDisturbed) {
  const truth::SeriesLaw law{.quiet_after = 20, .disturbance = 1.0};
  std::size_t held = 0;
  constexpr std::size_t series = 200;
  for (std::size_t seed = 0; seed < series; ++seed) {
    truth::SeriesSource source(law, seed);
    std::vector<UncertainTime> runs;
    for (std::size_t run = 0; run < 30; ++run) runs.push_back(source.next().undisturbed->uncertain());
    const MeanTime mean = mean_of(runs, {.shared_error = 0.0});
    const MeanTime of_quiet = mean_of(std::span(runs).subspan(20), {.shared_error = 0.0});
    held += mean.interval_seconds->low <= law.seconds && law.seconds <= mean.interval_seconds->high ? 1 : 0;
    EXPECT_LT(*mean.half_width_percent(), 2.0 * *of_quiet.half_width_percent()) << seed;
  }
  EXPECT_GE(static_cast<double>(held) / series, 0.92);
}

// How often A against itself is called faster or slower.
double share_of_false_alarms(const truth::SeriesLaw& law, std::size_t pairs, double reach_of_b, double shared_error) {
  const Precision precision{.within_percent = 0.01, .shared_error = shared_error};
  std::size_t wrong = 0;
  constexpr std::size_t comparisons = 200;
  for (std::size_t seed = 0; seed < comparisons; ++seed) {
    const VersusVerdict verdict = compare_pairs(pairs_from({law, seed}, pairs, 1.0, reach_of_b), precision).verdict;
    wrong += verdict == VersusVerdict::faster || verdict == VersusVerdict::slower ? 1 : 0;
  }
  return static_cast<double>(wrong) / static_cast<double>(comparisons);
}

TEST(Versus, IsSeldomWrongWithAAgainstItself) {
  EXPECT_LE(share_of_false_alarms({.disturbed = 0.3}, 7, 1.0, 1.0), 0.05);
  EXPECT_LE(share_of_false_alarms({.disturbed = 0.3, .has_shared_error = true}, 7, 1.0, 1.0), 0.05);
}

TEST(Versus, IsSeldomWrongThoughTheSharedErrorsOfBothProgramsDiffer) {
  const truth::SeriesLaw law{.disturbed = 0.3, .has_shared_error = true};
  EXPECT_LE(share_of_false_alarms(law, 28, 2.0, 1.0), 0.05);
  EXPECT_GT(share_of_false_alarms(law, 28, 2.0, 0.0), 0.1);
}

}  // namespace
