#include "analyzer/site/site_levels.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace halcyon;

TEST(SiteLevels, ScatterIsWhatErrorsDoNotExplain) {
  std::mt19937_64 random(1);
  std::vector<double> values;
  std::vector<double> errors;
  for (std::size_t i = 0; i < 40000; ++i) {
    errors.push_back(i % 2 == 0 ? 0.01 : 0.03);
    values.push_back(std::normal_distribution<>(i < 20000 ? 0.0 : 1.0, std::hypot(errors.back(), 0.02))(random));
  }
  EXPECT_NEAR(*scatter_of_steps(values, errors), 0.02, 0.002);
  EXPECT_FALSE(scatter_of_steps(std::vector{1.0, 2.0}, std::vector{0.1, 0.1}));
  EXPECT_LT(*scatter_of_steps(std::vector(9, 1.0), std::vector(9, 0.0)), 1e-4);
}

// As two partitions do, and a work on hosts that nobody else uses.
TEST(SiteLevels, WorksOfOnePartUseTheSameHostsOrAreJoinedByOthersThatDo) {
  std::vector<SiteRun> runs;
  const auto add = [&](std::uint32_t work, std::vector<std::uint32_t> hosts) {
    SiteRun& run = runs.emplace_back();
    run.work = work;
    run.hosts = std::move(hosts);
  };
  for (std::uint32_t work = 0; work < 6; ++work) add(work, {work, work + 1});
  for (std::uint32_t work = 6; work < 11; ++work) add(work, {20, work + 20});
  add(11, {50});
  EXPECT_EQ(parts_of_site(runs), (std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0}));
  add(3, {20});
  EXPECT_EQ(parts_of_site(runs), std::vector<std::size_t>(12, 0));
}

}  // namespace
