// Which groups are judged together, and what their segments should take beside each other.
#include "analyzer/groups/families.hpp"

#include <gtest/gtest.h>

#include <random>

#include "analyzer/groups/expected_time.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

constexpr double of_site = 50e-6;  // s
constexpr double of_send = 2e-6;
constexpr double of_work = 1.1e-9;  // s for each ns

// Segments of `sends[i]` sends and `work[i]` ns, in values of their own; every tenth is delayed by 20 ms.
Profile run_of(const std::vector<double>& sends, const std::vector<double>& work) {
  Profile profile = uniform_profile(sends.size(), 1e-3);
  FeatureColumn& counted = column(profile, Feature::sends_nonblocking);
  FeatureColumn& computed = column(profile, Feature::compute);
  counted = {};
  computed = {};
  profile.run_time_seconds = 0.0;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    counted.bins.push_back(sends[i]);
    computed.bins.push_back(work[i]);
    counted.index.push_back(static_cast<std::uint16_t>(i));
    computed.index.push_back(static_cast<std::uint16_t>(i));
    const double delay = i % 10 == 3 ? 20e-3 : 0.0;
    profile.duration[i] = static_cast<float>(of_site + of_send * sends[i] + of_work * work[i] + delay);
    profile.run_time_seconds += static_cast<double>(profile.duration[i]);
  }
  return profile;
}

struct Steps {
  std::vector<double> sends, work;
};

// No two alike: sends from 100 on, and work of 0.5 to 1.5 ms.
Steps unlike(std::size_t count) {
  std::mt19937_64 random(1);
  Steps steps;
  for (std::size_t i = 0; i < count; ++i) {
    steps.sends.push_back(100.0 + static_cast<double>(i));
    steps.work.push_back(std::uniform_real_distribution<>(0.5e6, 1.5e6)(random));
  }
  return steps;
}

TEST(ExpectedTime, IsWhatWorkAndCallsCost) {
  const auto [sends, work] = unlike(300);
  const Profile profile = run_of(sends, work);
  const ExpectedTime expected(profile, column(const_cast<Profile&>(profile), Feature::compute));
  for (const std::size_t segment : {0U, 3U, 150U, 299U}) {  // one of them is delayed
    const double seconds = of_site + of_send * sends[segment] + of_work * work[segment];
    EXPECT_NEAR(expected.of(segment), seconds, 0.02 * seconds) << segment;
  }
}

TEST(ExpectedTime, OfAPlaceThatEndsTooFewSegmentsIsThatOfItsFeatures) {
  const auto [sends, work] = unlike(100);
  Profile profile = run_of(sends, work);
  profile.sites = {"often", "once"};
  profile.site.assign(100, 0);
  profile.site[7] = 1;
  const ExpectedTime expected(profile, column(profile, Feature::compute));
  EXPECT_LT(expected.of(7), of_send * sends[7] + of_work * work[7] + 0.5 * of_site);
}

TEST(Families, JoinSegmentsThatNoOthersAreLike) {
  const auto [sends, work] = unlike(300);
  const Profile profile = run_of(sends, work);
  const Grouping grouping = group_segments(profile);
  EXPECT_EQ(Families(grouping).segments(), 0U);
  const Families families(profile, grouping);
  EXPECT_EQ(families.segments(), 300U);
  EXPECT_TRUE(families.are_joined());
  for (const Family& family : families.all()) {
    EXPECT_TRUE(std::ranges::is_sorted(family.members));
    for (std::size_t i = 0; i < family.members.size(); ++i) {
      const std::uint32_t at = family.members[i];
      const std::uint32_t first = family.members.front();
      const auto seconds = [&, &sends = sends, &work = work](std::uint32_t segment) {
        return of_site + of_send * sends[segment] + of_work * work[segment];
      };
      const auto ratio = static_cast<double>(family.expected[i] / family.expected.front());
      EXPECT_NEAR(ratio, seconds(at) / seconds(first), 0.03);
    }
  }
}

TEST(Families, LeaveOutWhatIsFarFromAllOthers) {
  Steps steps = unlike(100);
  steps.work[50] = 80e6;  // once, and eighty times as long
  const Profile profile = run_of(steps.sends, steps.work);
  const std::vector<bool> contained = Families(profile, group_segments(profile)).contained(100);
  EXPECT_FALSE(contained[50]);
  EXPECT_EQ(std::ranges::count(contained, true), 99);
}

TEST(Families, DoNotJoinGroupsThatAreLargeEnough) {
  const Profile profile = run_of(std::vector<double>(100, 3.0), std::vector<double>(100, 1e6));
  Profile two = profile;
  for (std::size_t i = 0; i < 50; ++i) column(two, Feature::sends_nonblocking).bins[i] = 4.0;
  column(two, Feature::sends_nonblocking).bins = {3.0, 4.0};
  for (std::size_t i = 0; i < 100; ++i) column(two, Feature::sends_nonblocking).index[i] = i < 50 ? 1 : 0;
  const Families families(two, group_segments(two));
  EXPECT_FALSE(families.are_joined());
  EXPECT_EQ(families.all().size(), 2U);
}

TEST(Families, OfAnEmptyProfileAreNone) {
  const Profile profile = uniform_profile(0, 1.0);
  EXPECT_TRUE(Families(profile, group_segments(profile)).all().empty());
}

}  // namespace
