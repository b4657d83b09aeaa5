#include "analyzer/machine/probes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/judge/analysis.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Two ranks on `left`, one on `right`, whose memory takes twice the time that is known of it.
Profile probed_profile() {
  Profile profile = uniform_profile(100, 1.0, 3);
  profile.rank_host = {"left", "right", "left"};
  profile.rank_cpu = {"CPU A", "CPU B", "CPU A"};
  ProbeColumns& latency = profile.probes[index_of(Probe::memory_latency)];
  latency.best_before = {100e-9, 180e-9, 102e-9};
  latency.best_after = {100e-9, 220e-9, 102e-9};
  latency.known = {100e-9, 100e-9, 100e-9};
  return profile;
}

TEST(Probes, AreMediansOverTheRanksOfAHost) {
  const std::vector<HostProbes> hosts = host_probes(probed_profile());
  ASSERT_EQ(hosts.size(), 2u);
  const std::size_t latency = index_of(Probe::memory_latency);
  EXPECT_EQ(hosts[0].host, "left");
  EXPECT_EQ(hosts[0].ranks, 2u);
  EXPECT_EQ(hosts[1].cpu, "CPU B");
  EXPECT_NEAR(hosts[0].during[latency], 101e-9, 1e-15);
  EXPECT_NEAR(hosts[1].during[latency], 200e-9, 1e-15);
  EXPECT_NEAR(hosts[1].best[latency], 180e-9, 1e-15);
  EXPECT_TRUE(std::isnan(hosts[0].during[index_of(Probe::l2)]));
}

TEST(Probes, AreNoneWhereTheMachineWasNotProbed) { EXPECT_TRUE(host_probes(uniform_profile(10, 1.0)).empty()); }

TEST(Probes, OfARankThatCouldNotBeMeasuredDoNotCount) {
  Profile profile = probed_profile();
  profile.probes[index_of(Probe::memory_latency)].best_before[0] = unknown;
  profile.probes[index_of(Probe::memory_latency)].best_after = {};
  EXPECT_NEAR(host_probes(profile)[0].during[index_of(Probe::memory_latency)], 102e-9, 1e-15);
}

TEST(ProbeDisplacement, IsThatOfTheHostThatLostMost) {
  const ProbeDisplacements displacements = probe_displacement(probed_profile());
  const auto& latency = displacements[index_of(Probe::memory_latency)];
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->host, "right");
  EXPECT_NEAR(latency->speed_percent(), 50.0, 1e-9);
  EXPECT_NEAR(latency->lost_share(), 0.5, 1e-9);
  EXPECT_FALSE(displacements[index_of(Probe::registers)]);
}

TEST(ProbeDisplacement, IsNoneOfAHostOfWhichNothingIsKnown) {
  Profile profile = probed_profile();
  profile.probes[index_of(Probe::memory_latency)].known[1] = unknown;
  EXPECT_EQ(probe_displacement(profile)[index_of(Probe::memory_latency)]->host, "left");
  profile.probes[index_of(Probe::memory_latency)].known.clear();
  EXPECT_FALSE(probe_displacement(profile)[index_of(Probe::memory_latency)]);
}

// Half the speed of memory may have cost a program that waits for it half of the time a quarter.
TEST(ProbeDisplacement, RaisesTheIntervalWhereNothingElseTellsWhatItCost) {
  Profile profile = probed_profile();
  const auto high = [](const Profile& run) {
    return analyze(run, methods.front().name).result().interval_percent.high;
  };
  const double slow = high(profile);
  profile.known_runs = KnownRuns{.runs = 2};
  const double with_known_runs = high(profile);
  EXPECT_NEAR(slow - with_known_runs, 0.95 * 0.25 * (100.0 - with_known_runs), 0.5);  // anything up to a quarter
}

TEST(ProbeDisplacement, IsAWarningWhereItIsLarge) {
  const auto codes = [](const Profile& profile) {
    std::vector<std::string> result;
    for (const Warning& warning : analyze(profile, "paper").warnings) result.push_back(warning.code);
    return result;
  };
  Profile profile = probed_profile();
  EXPECT_EQ(codes(profile), std::vector<std::string>{"slow-memory"});
  profile.probes[index_of(Probe::memory_latency)].known = {100e-9, 180e-9, 100e-9};
  EXPECT_TRUE(codes(profile).empty());
}

TEST(ProbeDisplacement, OfRegistersIsOfSeveralThings) {
  Profile profile = probed_profile();
  std::swap(profile.probes[index_of(Probe::memory_latency)], profile.probes[index_of(Probe::registers)]);
  EXPECT_EQ(analyze(profile, "paper").warnings.front().message,
            "registers on right had only 50 % of their best known speed before and after the run");
}

TEST(KnownHost, KeepsTheBestOfAllRuns) {
  HostProbes probes = host_probes(probed_profile())[1];
  KnownHost known = known_by(probes, "1.0");
  EXPECT_TRUE(known.is_of(probes, "1.0"));
  EXPECT_FALSE(known.is_of(probes, "1.1"));
  const std::size_t latency = index_of(Probe::memory_latency);
  probes.best[latency] = 150e-9;
  probes.best[index_of(Probe::l2)] = 5e-9;
  known = with_run(known, probes);
  EXPECT_EQ(known.runs, 2u);
  EXPECT_NEAR(known.best[latency], 150e-9, 1e-15);
  EXPECT_NEAR(known.best[index_of(Probe::l2)], 5e-9, 1e-15);
  probes.best[latency] = 170e-9;
  EXPECT_NEAR(with_run(known, probes).best[latency], 150e-9, 1e-15);
  probes.ranks = 4;
  EXPECT_FALSE(known.is_of(probes, "1.0"));
}

}  // namespace
