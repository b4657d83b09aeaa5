#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/groups/work_model.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

constexpr std::size_t segments = 600;

struct Step {
  double first_work;
  double second_work;
  double delay = 0.0;
};

// Two ranks, of which one waits for the other. `step(random)`: ns.
template <class MakeStep>
Profile two_ranks(MakeStep step) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> jitter(1.0, 1.01);
  Profile profile = uniform_profile(segments, 1.0);
  FeatureColumn& median_work = column(profile, Feature::compute);
  median_work = {};
  for (std::size_t i = 0; i < segments; ++i) {
    const Step now = step(random);
    const double largest = std::max(now.first_work, now.second_work);
    profile.duration[i] = static_cast<float>(1e-9 * (largest + now.delay) * jitter(random));
    median_work.bins.push_back(0.5 * (now.first_work + now.second_work));
    median_work.index.push_back(static_cast<std::uint16_t>(i));
    profile.largest_work.bins.push_back(largest);
    profile.largest_work.index.push_back(static_cast<std::uint16_t>(i));
  }
  return profile;
}

bool is_largest(const Profile& profile) {
  return &explaining_work(profile, group_by_signature(profile).all_members()) == &profile.largest_work;
}

TEST(ExplainingWork, IsTheLargestWhereRanksHaveUnequalWork) {
  std::uniform_real_distribution<double> share(0.5, 1.5);
  const auto unequal = [&](auto& random) { return Step{1e6 * share(random), 1e6 * share(random)}; };
  EXPECT_TRUE(is_largest(two_ranks(unequal)));
  const auto delayed = [&](auto& random) {
    return Step{1e6 * share(random), 1e6 * share(random), share(random) < 0.7 ? 1e6 : 0.0};
  };
  EXPECT_TRUE(is_largest(two_ranks(delayed)));
}

TEST(ExplainingWork, IsTheMedianWhereRanksDoTheSame) {
  std::normal_distribution<double> nearly(1.0, 0.005);
  const auto equal = [&](auto& random) { return Step{1e6 * nearly(random), 1e6 * nearly(random)}; };
  EXPECT_FALSE(is_largest(two_ranks(equal)));
}

TEST(ExplainingWork, IsTheMedianWhereDelaysCostOneRankCpuTime) {
  std::normal_distribution<double> nearly(1.0, 0.005);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  const auto delayed = [&](auto& random) {
    const bool is_delayed = share(random) < 0.2;
    return Step{1e6 * nearly(random), 1e6 * nearly(random) * (is_delayed ? 1.1 : 1.0), is_delayed ? 1e6 : 0.0};
  };
  EXPECT_FALSE(is_largest(two_ranks(delayed)));
}

TEST(ExplainingWork, IsTheMedianOfOneRank) {
  const Profile profile = uniform_profile(segments, 1.0);
  EXPECT_FALSE(is_largest(profile));
}

}  // namespace
