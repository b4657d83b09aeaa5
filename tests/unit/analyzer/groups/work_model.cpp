#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/durations.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace halcyon;

struct Group {
  Durations durations;
  Durations work;
};

// Durations a + b work, with little jitter.
Group varied(double spread, double fixed, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<> either_way(-spread, spread);
  std::normal_distribution<> jitter(1.0, 0.01);
  Group group{Durations(1000), Durations(1000)};
  for (Eigen::Index i = 0; i < 1000; ++i) {
    const double work = 1.0 + either_way(random);
    group.work[i] = 1e6 * work;
    group.durations[i] = 1e-3 * (fixed + (1.0 - fixed) * work) * jitter(random);
  }
  return group;
}

double relative_deviation(const Durations& values) {
  return std::sqrt((values - values.mean()).square().mean()) / values.mean();
}

TEST(WorkModel, FollowsTheWorkWithinAGroup) {
  const Group group = varied(0.3, 0.3);
  const std::optional<Durations> factors = work_factors(group.durations, group.work);
  ASSERT_TRUE(factors.has_value());
  EXPECT_NEAR(factors->mean(), 1.0, 1e-12);
  EXPECT_LT(relative_deviation(group.durations / *factors), 0.015);
  EXPECT_GT(relative_deviation(group.durations), 0.1);
}

TEST(WorkModel, IsNotMovedByDelays) {
  Group group = varied(0.3, 0.0);
  std::mt19937_64 random(2);
  for (Eigen::Index i = 0; i < group.durations.size(); ++i) {
    if (std::bernoulli_distribution(0.3)(random)) group.durations[i] += std::exponential_distribution<>(2e3)(random);
  }
  const std::optional<Durations> factors = work_factors(group.durations, group.work);
  ASSERT_TRUE(factors.has_value());
  EXPECT_LT(relative_deviation(1e-9 * group.work / *factors), 0.02);
}

TEST(WorkModel, SaysNothingWhereDurationsDoNotFollow) {
  const Group one = varied(0.3, 0.0, 1);
  const Group other = varied(0.3, 0.0, 2);
  EXPECT_FALSE(work_factors(one.durations, other.work).has_value());
}

// Caches are cold after a delay: a delayed segment takes a little more CPU time, and much longer.
TEST(WorkModel, SaysNothingOfWorkThatOnlyGoesAlongWithDelays) {
  Group group = varied(0.01, 0.0);
  for (Eigen::Index i = 0; i < group.durations.size(); ++i) {
    if (group.work[i] > 1.007e6) group.durations[i] *= 4.0;
  }
  EXPECT_FALSE(work_factors(group.durations, group.work).has_value());
}

TEST(WorkWithDevices, IsWhatTheyUsuallyTakeForAsManyItems) {
  Profile profile;
  profile.counter = "cpu";
  profile.segments = 40;
  FeatureColumn work{.bins = {2e3, 60e3}, .index = std::vector<std::uint16_t>(40, 0)};
  FeatureColumn& items = profile.features[index_of(Feature::device_items)];
  items = {.bins = {1000.0, 4000.0}, .index = std::vector<std::uint16_t>(40, 0)};
  std::vector<float>& on_device = profile.last_rank_times[static_cast<std::size_t>(TimeKind::device)];
  on_device.assign(40, 0.0F);
  EXPECT_FALSE(work_with_devices(profile, work));
  for (std::size_t i = 0; i < 40; ++i) {
    const bool is_large = i % 4 == 0;
    items.index[i] = is_large ? 1 : 0;
    on_device[i] = (is_large ? 8e-3F : 2e-3F) + (i > 30 ? 5e-3F : 0.0F);  // the last ones are disturbed
    work.index[i] = i > 30 ? 1 : 0;
  }
  const std::optional<FeatureColumn> both = work_with_devices(profile, work);
  ASSERT_TRUE(both);
  EXPECT_NEAR(both->bins[both->bin_of(0)], 2e3 + 8e6, 1.0);
  EXPECT_NEAR(both->bins[both->bin_of(1)], 2e3 + 2e6, 1.0);
  EXPECT_NEAR(both->bins[both->bin_of(39)], 60e3 + 2e6, 1.0);
  profile.counter = "papi:PAPI_TOT_INS";  // no time
  EXPECT_FALSE(work_with_devices(profile, work));
}

TEST(WorkModel, SaysNothingOfEqualWorkOrTooFewSegments) {
  const Group group = varied(0.3, 0.0);
  EXPECT_FALSE(work_factors(group.durations, Durations::Ones(1000)).has_value());
  EXPECT_FALSE(work_factors(group.durations.head(40), group.work.head(40)).has_value());
}

TEST(WorkModel, SaysNothingWhereWorkIsNone) {
  Group group = varied(0.3, 0.0);
  group.work[0] = 0.0;
  EXPECT_FALSE(work_factors(group.durations, group.work).has_value());
}

}  // namespace
