// The likely cause of profiles whose cause is known, since they were made by hand.
#include "analyzer/attribution/cause.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "analyzer/judge/analysis.hpp"
#include "analyzer/attribution/time_pattern.hpp"
#include "tests/unit/synthetic_profile.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::testing;

constexpr std::size_t segments = 4000;  // of 10 ms
constexpr double delay_seconds = 0.05;

using IsDelayed = std::function<bool(std::size_t segment, double begin)>;

// One in seventeen, in no order.
bool now_and_then(std::size_t segment, double) {
  std::uint64_t mixed = (segment + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9u;
  return (mixed ^ mixed >> 29) % 17 == 5;
}

// Delays of rank 1 in segments of 10 ms, in computation unless a test says otherwise. The kernel says that nobody
// waited for anything.
Profile delayed(const IsDelayed& is_delayed = now_and_then, int ranks = 2) {
  Profile profile = uniform_profile(segments, 0.010, ranks);
  profile.run_time_seconds = 0.0;
  for (std::size_t i = 0; i < segments; ++i) {
    profile.duration[i] = 0.010F + 1e-5F * static_cast<float>(i % 10);
    if (is_delayed(i, profile.run_time_seconds)) {
      profile.duration[i] += static_cast<float>(delay_seconds);
      profile.last_rank[i] = 1;
    }
    profile.run_time_seconds += static_cast<double>(profile.duration[i]);
  }
  profile.evidence[index_of(Evidence::cpus)].assign(static_cast<std::size_t>(ranks), 64.0);
  profile.rank_run_time.assign(static_cast<std::size_t>(ranks), profile.run_time_seconds);
  profile.evidence[index_of(Evidence::cpu_time)] = profile.rank_run_time;
  return profile;
}

bool is_delayed(const Profile& profile, std::size_t segment) { return profile.duration[segment] > 0.03F; }

double lost(const Profile& profile) {
  double seconds = 0.0;
  for (std::size_t i = 0; i < segments; ++i) seconds += is_delayed(profile, i) ? delay_seconds : 0.0;
  return seconds;
}

void in_calls(Profile& profile, TimeKind kind) {
  for (std::size_t i = 0; i < segments; ++i) {
    if (is_delayed(profile, i))
      profile.last_rank_times[static_cast<std::size_t>(kind)][i] = static_cast<float>(delay_seconds);
  }
}

void set(Profile& profile, Evidence evidence, double value) {
  profile.evidence[index_of(evidence)].assign(static_cast<std::size_t>(profile.ranks), value);
}

void off_the_cpu(Profile& profile) {
  for (std::size_t i = 0; i < segments; ++i) {
    if (is_delayed(profile, i)) profile.last_rank_off_cpu[i] = static_cast<float>(delay_seconds);
  }
  set(profile, Evidence::off_cpu, lost(profile));
}

Cause cause_of(const Profile& profile) {
  const Analysis analysis = analyze(profile, "paper");
  EXPECT_NE(analysis.result().verdict, Verdict::green);
  return analysis.cause.value_or(Cause{"none", "", ""});
}

TEST(Cause, IsNoneOfAGreenRun) { EXPECT_FALSE(analyze(uniform_profile(1000, 0.010), "paper").cause); }

TEST(Cause, IsNoneWhereThereIsNoVerdict) { EXPECT_FALSE(analyze(uniform_profile(1, 5.0), "paper").cause); }

TEST(Cause, IsOtherProcessesWhereTheLateRankWaitedForACpu) {
  Profile profile = delayed();
  off_the_cpu(profile);
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost(profile)};
  const Cause cause = cause_of(profile);
  EXPECT_EQ(cause.code, "other-processes");
  EXPECT_NE(cause.text.find("rank 1 on host waited for a CPU for 100 % of the lost time, throughout the run"),
            std::string::npos)
      << cause.text;
}

TEST(Cause, NamesWhoHadTheCpusIfAWitnessSawIt) {
  Profile profile = delayed();
  off_the_cpu(profile);
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost(profile)};
  Witnessed& seen = profile.witnessed;
  seen = {.by = "switches", .seconds = 100.0, .waited_seconds = 10.0};
  seen.add({.whose = PartyKind::other_job, .program = "cc1plus", .user = "ann", .job = "4711"}, 6.0);
  seen.add({.whose = PartyKind::ranks, .program = "app", .user = "bob"}, 2.0);
  seen.add({.whose = PartyKind::service, .program = "sshd", .user = "root", .service = "ssh.service"}, 1.5);
  seen.add({.program = "top", .user = "ann"}, 0.4);
  const Cause cause = cause_of(profile);
  EXPECT_TRUE(
      cause.text.ends_with("; their CPUs had cc1plus of ann, job 4711 (60 %), sshd, service ssh.service (15 %)"))
      << cause.text;
}

// A rank that was killed left no counts, and another left nothing.
TEST(Cause, IsToldByTheCountsThatThereAre) {
  Profile profile = delayed(now_and_then, 4);
  off_the_cpu(profile);
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (auto& counts : profile.evidence) counts[2] = counts[3] = unknown;
  profile.rank_run_time[3] = unknown;
  profile.rank_host[3].clear();
  profile.evidence[index_of(Evidence::cpu_wait)][1] = lost(profile);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  in_calls(profile, TimeKind::point_to_point);
  set(profile, Evidence::cpu_wait, 0.0);
  profile.last_rank_off_cpu.assign(segments, 0.0F);
  EXPECT_EQ(cause_of(profile).code, "communication");  // the host of a rank that left nothing is none
}

TEST(Cause, DoesNotTakeMissingCountsForWaitsOfTheProgramItself) {
  Profile profile = delayed();
  off_the_cpu(profile);
  for (auto& counts : profile.evidence) counts[1] = std::numeric_limits<double>::quiet_NaN();
  const Cause cause = cause_of(profile);
  EXPECT_EQ(cause.code, "unclear");
  EXPECT_NE(cause.text.find("rank 1 on host did not run for 100 % of the lost time, and the kernel does not say why"),
            std::string::npos)
      << cause.text;
}

TEST(Cause, IsOtherProcessesInWhateverCallTheyTookTheCpu) {
  Profile profile = delayed();
  off_the_cpu(profile);
  in_calls(profile, TimeKind::file_io);
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost(profile)};
  EXPECT_EQ(cause_of(profile).code, "other-processes");
}

TEST(Cause, IsOtherProcessesWhereOtherThreadsOfTheRankWaited) {
  Profile profile = delayed();
  profile.evidence[index_of(Evidence::cpu_wait_of_others)] = {0.0, lost(profile)};
  EXPECT_EQ(cause_of(profile).code, "other-processes");
}

TEST(Cause, IsUnclearWhereTheKernelDoesNotTellWaits) {
  Profile profile = delayed();
  off_the_cpu(profile);
  profile.evidence[index_of(Evidence::cpu_wait)].clear();
  EXPECT_EQ(cause_of(profile).code, "unclear");
}

TEST(Cause, IsMoreRanksThanCoresWhereThereAre) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::cpu_wait, lost(profile));
  set(profile, Evidence::cpus, 1.0);
  EXPECT_EQ(cause_of(profile).code, "more-ranks-than-cores");
}

TEST(Cause, IsMoreRanksThanCoresWhereTheseAreBoundToTheSameOnes) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::cpu_wait, lost(profile));
  set(profile, Evidence::cpus, 64.0);
  set(profile, Evidence::own_cpus, 1.0);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  set(profile, Evidence::first_cpu, 5.0);
  EXPECT_EQ(cause_of(profile).code, "more-ranks-than-cores");
  set(profile, Evidence::own_cpus, 2.0);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  set(profile, Evidence::busy_threads, 1.9);
  set(profile, Evidence::cpu_time, 1.9 * profile.run_time_seconds);
  EXPECT_EQ(cause_of(profile).code, "more-threads-than-cores");
}

TEST(Cause, IsALimitOnCpuTimeWhereThisHeldTheRanksBack) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::cpu_wait, lost(profile));
  set(profile, Evidence::cpus, 64.0);
  set(profile, Evidence::cpu_limit, 0.9);
  set(profile, Evidence::throttled, 0.0);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  set(profile, Evidence::throttled, 0.9 * lost(profile));
  EXPECT_EQ(cause_of(profile).code, "cpu-limit");
  EXPECT_NE(cause_of(profile).text.find("to 0.9 CPUs at a time"), std::string::npos) << cause_of(profile).text;
}

TEST(Cause, IsMoreThreadsThanCoresWhereARankIsBoundToFewerThanItHas) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::cpu_wait, lost(profile));
  set(profile, Evidence::cpus, 64.0);
  set(profile, Evidence::own_cpus, 1.0);
  set(profile, Evidence::busy_threads, 1.0);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  set(profile, Evidence::busy_threads, 1.9);
  set(profile, Evidence::cpu_time, 1.9 * profile.run_time_seconds);
  EXPECT_EQ(cause_of(profile).code, "more-threads-than-cores");
  set(profile, Evidence::own_cpus, 64.0);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  set(profile, Evidence::busy_threads, 48.0);
  set(profile, Evidence::cpu_time, 48.0 * profile.run_time_seconds);
  EXPECT_EQ(cause_of(profile).code, "more-threads-than-cores") << "of all ranks of the host";
}

TEST(Cause, IsOtherProcessesWhereThreadsOfTheRunHadTheCoresForTheLesserPart) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::cpu_wait, lost(profile));
  set(profile, Evidence::own_cpus, 1.0);
  set(profile, Evidence::busy_threads, 1.9);
  const double of_one = profile.run_time_seconds - lost(profile);
  set(profile, Evidence::cpu_time, of_one + 0.3 * lost(profile));
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  set(profile, Evidence::cpu_time, of_one + 0.7 * lost(profile));
  EXPECT_EQ(cause_of(profile).code, "more-threads-than-cores");
}

Profile delayed_on_three_hosts(const std::vector<double>& tcp_retransmissions) {
  Profile profile = delayed(now_and_then, 3);
  profile.rank_host = {"a", "b", "c"};
  in_calls(profile, TimeKind::point_to_point);
  profile.evidence[index_of(Evidence::tcp_retransmissions)] = tcp_retransmissions;
  return profile;
}

TEST(Cause, NamesTheHostThatMadeMostRetransmissions) {
  const Cause cause = cause_of(delayed_on_three_hosts({20.0, 25.0, 55.0}));
  EXPECT_EQ(cause.code, "network");
  EXPECT_NE(cause.text.find("c made 55 of 100 TCP retransmissions"), std::string::npos) << cause.text;
}

TEST(Cause, NamesNoHostWhereNoneRetransmittedClearlyMore) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& counts :
       {std::vector<double>{40.0, 45.0, 55.0}, {1.0, 2.0, 9.0}, {0.0, 0.0, 0.0}, {unknown, unknown, unknown}}) {
    const Cause cause = cause_of(delayed_on_three_hosts(counts));
    EXPECT_EQ(cause.code, "network");
    EXPECT_EQ(cause.text.find("TCP"), std::string::npos) << cause.text;
  }
}

TEST(Cause, IsTheHypervisorWhereItKeptAsMuch) {
  Profile profile = delayed();
  set(profile, Evidence::steal, lost(profile));
  EXPECT_EQ(cause_of(profile).code, "hypervisor-steal");
}

TEST(Cause, IsMemoryWherePagesCameFromADisk) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::major_faults, 1500.0);
  set(profile, Evidence::memory_pressure, lost(profile));
  EXPECT_EQ(cause_of(profile).code, "memory-pressure");
}

// Ranks that take turns on a CPU poll in MPI while others have it: what segments lost for sure is little.
TEST(Cause, IsOthersOnTheCoresWhereRanksTakeTurns) {
  for (const bool polls : {false, true}) {
    Profile profile = delayed();
    off_the_cpu(profile);
    if (polls) in_calls(profile, TimeKind::point_to_point);
    set(profile, Evidence::cpu_wait, lost(profile));
    profile.lost_to_cpu_wait.assign(segments, 0.0F);
    EXPECT_EQ(cause_of(profile).code, "other-processes") << polls;
  }
}

TEST(Cause, IsFileIo) {
  Profile profile = delayed();
  off_the_cpu(profile);
  in_calls(profile, TimeKind::file_io);
  EXPECT_EQ(cause_of(profile).code, "file-io");
}

TEST(Cause, IsTheNetworkBetweenHostsAndCommunicationWithinOne) {
  Profile profile = delayed();
  in_calls(profile, TimeKind::point_to_point);
  EXPECT_EQ(cause_of(profile).code, "communication");
  profile.rank_host = {"left", "right"};
  const Cause cause = cause_of(profile);
  EXPECT_EQ(cause.code, "network");
  EXPECT_NE(cause.text.find("point-to-point communication of rank 1 on right"), std::string::npos) << cause.text;
}

TEST(Cause, IsTheStartWhereAllIsLostThere) {
  Profile profile = delayed([](std::size_t segment, double) { return segment < 150; });
  in_calls(profile, TimeKind::point_to_point);
  EXPECT_EQ(cause_of(profile).code, "start-up");
}

TEST(Cause, IsTheProgramsOwnWaitingWhereItSleptInNoCall) {
  Profile profile = delayed();
  off_the_cpu(profile);
  EXPECT_EQ(cause_of(profile).code, "own-waiting");
}

TEST(Cause, IsOneRankOrOneHostWhereAllOthersAreWell) {
  Profile profile = delayed(now_and_then, 4);
  EXPECT_EQ(cause_of(profile).code, "slow-rank");
  profile.rank_host = {"a", "b", "c", "d"};
  const Cause cause = cause_of(profile);
  EXPECT_EQ(cause.code, "slow-host");
  EXPECT_NE(cause.text.find("rank 1 on b"), std::string::npos) << cause.text;
}

TEST(Cause, OfSlowerComputationIsTheMachineOnlyWhereWorkIsCounted) {
  Profile profile = delayed();
  EXPECT_EQ(cause_of(profile).code, "slower-computation");
  // Where a counter can be used, auto uses it.
  EXPECT_EQ(cause_of(profile).action.find("--counter"), std::string::npos) << cause_of(profile).action;
  profile.counter = "papi:PAPI_TOT_INS";
  EXPECT_EQ(cause_of(profile).code, "slow-machine");
}

TEST(Cause, IsTheProgramsOwnVariationWhereLongerSegmentsDidMoreWork) {
  Profile profile = uniform_profile(segments, 0.010);
  profile.counter = "papi:PAPI_TOT_INS";
  profile.run_time_seconds = 0.0;
  FeatureColumn& work = column(profile, Feature::compute);
  work.bins.clear();
  for (int i = 0; i < 16; ++i) work.bins.push_back(1e6 * (1.0 + 0.09 * i));
  work.index.resize(segments);
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t bin = i % 3 == 0 ? i / 3 % 16 : 0;
    work.index[i] = static_cast<std::uint16_t>(bin);
    profile.duration[i] = 0.010F * (1.0F + 0.09F * static_cast<float>(bin)) + 1e-5F * static_cast<float>(i % 10);
    profile.run_time_seconds += static_cast<double>(profile.duration[i]);
  }
  EXPECT_EQ(cause_of(profile).code, "own-variation");
}

TEST(Cause, IsUnclearWhereNothingExplainsHalf) {
  Profile profile = delayed();
  std::size_t next = 0;  // a third in messages, a third in files, a third in computation
  for (std::size_t i = 0; i < segments; ++i) {
    if (!is_delayed(profile, i)) continue;
    const std::size_t which = next++ % 3;
    const TimeKind kind = which == 0 ? TimeKind::point_to_point : TimeKind::file_io;
    if (which < 2) profile.last_rank_times[static_cast<std::size_t>(kind)][i] = static_cast<float>(delay_seconds);
  }
  EXPECT_EQ(cause_of(profile).code, "unclear");
}

TEST(Cause, HasAnActionForEachCode) {
  std::set<std::string_view> codes;
  for (const CauseInfo& info : cause_infos()) {
    codes.insert(info.code);
    EXPECT_TRUE(info.action.ends_with(".")) << info.code;
  }
  EXPECT_EQ(codes.size(), cause_infos().size());
}

TimePattern pattern_of(const Profile& profile) {
  const Grouping grouping = group_segments(profile);
  const Analysis analysis = analyze(profile, grouping, "paper");
  return time_pattern(profile, grouping,
                      {.breakdown = analysis.breakdown,
                       .excess = analysis.excess,
                       .groups = analysis.judged,
                       .changes = analysis.phases->changes,
                       .slower = analysis.peers.slower});
}

TEST(TimePattern, FindsAPeriodOfBursts) {
  const Profile profile = delayed([](std::size_t segment, double begin) {
    return begin - 2.0 * std::floor(begin / 2.0) < 0.4 && segment % 2 == 0;
  });
  const TimePattern pattern = pattern_of(profile);
  ASSERT_EQ(pattern.kind, TimePattern::Kind::periodic);
  EXPECT_NEAR(pattern.period_seconds, 2.0, 0.1);
}

TEST(TimePattern, FindsAPeriodOfSingleDelaysThatComeAboutThen) {
  std::mt19937 engine(1);
  std::normal_distribution<double> jitter(0.0, 0.03);
  double next = 0.5;
  const Profile profile = delayed([&](std::size_t, double begin) {
    if (begin < next) return false;
    next = 0.5 * std::ceil(begin / 0.5 + 0.3) + jitter(engine);
    return true;
  });
  const TimePattern pattern = pattern_of(profile);
  ASSERT_EQ(pattern.kind, TimePattern::Kind::periodic);
  EXPECT_NEAR(pattern.period_seconds, 0.5, 0.02);
}

TEST(TimePattern, SaysNothingOfAPeriodWhereChanceRules) {
  for (unsigned seed = 1; seed <= 15; ++seed) {
    std::mt19937 engine(seed);
    std::bernoulli_distribution strikes(0.05);
    std::bernoulli_distribution burst_begins(0.005);
    double burst_until = 0.0;
    const Profile alone = delayed([&](std::size_t, double) { return strikes(engine); });
    EXPECT_EQ(pattern_of(alone).kind, TimePattern::Kind::throughout) << seed;
    const Profile bursts = delayed([&](std::size_t, double begin) {
      if (burst_begins(engine)) burst_until = begin + 0.3;
      return begin < burst_until;
    });
    EXPECT_NE(pattern_of(bursts).kind, TimePattern::Kind::periodic) << seed;
  }
}

// A thread that ends segments does more in some than the others: it spins for one that is delayed, or has more to do.
MethodResult by_default(const Profile& profile) { return analyze(profile, methods.front().name).result(); }

// A kernel may have more to do in some steps, and nobody counts what it does.
TEST(WaitsForADevice, MayBeTheProgramsOwnDoing) {
  Profile profile = delayed();
  in_calls(profile, TimeKind::device);
  MethodResult result = by_default(profile);
  EXPECT_EQ(result.interval_percent.low, 0.0);
  EXPECT_EQ(result.verdict, Verdict::yellow);
  EXPECT_TRUE(result.may_be_own);
  EXPECT_EQ(cause_of(profile).code, "device");
  profile.lost_to_cpu_wait.assign(segments, 0.0F);  // of the threads that do the device's work
  set(profile, Evidence::busy_threads, 1.0);
  set(profile, Evidence::own_cpus, 2.0);
  set(profile, Evidence::cpu_wait, lost(profile));
  for (std::size_t i = 0; i < segments; ++i) {
    if (is_delayed(profile, i)) profile.lost_to_cpu_wait[i] = static_cast<float>(delay_seconds);
  }
  result = by_default(profile);
  EXPECT_EQ(result.verdict, Verdict::red);
  EXPECT_FALSE(result.may_be_own);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
}

TEST(WaitsOfBusyThreads, DecideWhetherLongSegmentsWereDisturbed) {
  Profile profile = delayed();
  ASSERT_EQ(by_default(profile).verdict, Verdict::red);
  set(profile, Evidence::busy_threads, 2.0);
  set(profile, Evidence::own_cpus, 2.0);
  set(profile, Evidence::work_beyond_least, 1.1 * lost(profile));
  MethodResult result = by_default(profile);
  EXPECT_EQ(result.interval_percent.low, 0.0);
  EXPECT_EQ(result.verdict, Verdict::yellow);
  EXPECT_TRUE(result.may_be_own);
  set(profile, Evidence::work_beyond_least, 0.01 * lost(profile));  // which decides nothing
  EXPECT_FALSE(by_default(profile).may_be_own);
  EXPECT_EQ(by_default(profile).verdict, Verdict::red);
  set(profile, Evidence::work_beyond_least, 1.1 * lost(profile));
  set(profile, Evidence::cpu_wait_of_others, lost(profile));
  result = by_default(profile);
  EXPECT_NEAR(result.interval_percent.low, 100.0 * lost(profile) / profile.run_time_seconds, 2.0);
  EXPECT_EQ(result.verdict, Verdict::red);
  set(profile, Evidence::own_cpus, 1.0);  // the threads of the program may have waited for each other
  set(profile, Evidence::cpu_time, 2.0 * profile.run_time_seconds);
  EXPECT_EQ(by_default(profile).interval_percent.low, 0.0);
  // But no longer than the other one had the CPU.
  set(profile, Evidence::cpu_time, profile.rank_run_time[0] + 0.1 * lost(profile));
  EXPECT_NEAR(by_default(profile).interval_percent.low, 90.0 * lost(profile) / profile.run_time_seconds, 2.0);
}

TEST(OwnChildren, MayHaveTakenAsMuchAsTheyUsed) {
  Profile profile = delayed();
  off_the_cpu(profile);
  set(profile, Evidence::cpu_wait, lost(profile));
  EXPECT_EQ(by_default(profile).verdict, Verdict::red);
  profile.evidence[index_of(Evidence::children_cpu)] = {lost(profile), 0.0};
  EXPECT_EQ(by_default(profile).interval_percent.low, 0.0);
  EXPECT_EQ(by_default(profile).verdict, Verdict::yellow);
  EXPECT_EQ(cause_of(profile).code, "own-children");
  profile.evidence[index_of(Evidence::children_cpu)] = {0.1 * lost(profile), 0.0};
  EXPECT_EQ(by_default(profile).verdict, Verdict::red);
  EXPECT_EQ(cause_of(profile).code, "other-processes");
  profile.evidence[index_of(Evidence::children_cpu)] = {lost(profile), 0.0};
  profile.rank_host = {"elsewhere", "here"};  // where nobody waited for them
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost(profile)};
  EXPECT_EQ(by_default(profile).verdict, Verdict::red);
}

TEST(OwnWaiting, IsNoProofOfDisturbance) {
  Profile profile = delayed();
  off_the_cpu(profile);
  const MethodResult slept = by_default(profile);
  EXPECT_NEAR(slept.interval_percent.low, 0.0, 1.0);
  EXPECT_EQ(slept.verdict, Verdict::yellow);
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost(profile)};
  EXPECT_EQ(by_default(profile).verdict, Verdict::red);
  set(profile, Evidence::cpu_wait, 0.0);
  in_calls(profile, TimeKind::point_to_point);  // it waited for a message
  EXPECT_EQ(by_default(profile).verdict, Verdict::red);
}

TEST(OwnWaiting, IsToldFromWaitsForACpuInEachSegment) {
  Profile profile = delayed();
  off_the_cpu(profile);
  profile.lost_to_cpu_wait.assign(segments, 0.0F);
  for (std::size_t i = 0; i < segments; ++i) profile.lost_to_cpu_wait[i] = is_delayed(profile, i) ? 0.0F : 0.001F;
  profile.evidence[index_of(Evidence::cpu_wait)] = {0.0, lost(profile)};  // as long as it slept, but elsewhere
  set(profile, Evidence::off_cpu, 2.0 * lost(profile));
  const Analysis analysis = analyze(profile, methods.front().name);
  EXPECT_NEAR(analysis.undecided.slept_seconds, lost(profile), 0.05 * lost(profile));
  EXPECT_EQ(analysis.result().verdict, Verdict::yellow);
  EXPECT_EQ(analysis.cause->code, "own-waiting");
}

// Every segment, by the same time: the durations alone do not show it.
// As on crowded cores: most waits of a rank end in MPI, when the others have begun their next segment.
TEST(WaitsForACpu, AreTheCauseWhereTheKernelDoesNotTellInWhichSegmentsTheyCounted) {
  Profile profile = delayed();
  off_the_cpu(profile);
  profile.lost_to_cpu_wait.assign(segments, 0.0F);
  for (std::size_t i = 0; i < segments; ++i) {
    if (is_delayed(profile, i)) profile.lost_to_cpu_wait[i] = 0.4F * static_cast<float>(delay_seconds);
    profile.last_rank_off_cpu[i] *= 0.45F;
  }
  set(profile, Evidence::cpu_wait, lost(profile));
  const Cause cause = cause_of(profile);
  EXPECT_EQ(cause.code, "other-processes");
  EXPECT_NE(cause.text.find(" for up to 100 % of the lost time"), std::string::npos) << cause.text;
}

TEST(WaitsForACpu, AreLostThoughTheyStrikeAllSegmentsAlike) {
  Profile profile = uniform_profile(segments, 0.010);
  EXPECT_EQ(by_default(profile).verdict, Verdict::green);
  profile.lost_to_cpu_wait.assign(segments, 0.003F);
  profile.evidence[index_of(Evidence::cpus)].assign(1, 2.0);
  const Analysis analysis = analyze(profile, methods.front().name);
  EXPECT_NEAR(analysis.result().interference_percent, 30.0, 0.1);
  EXPECT_NEAR(analysis.result().continuous_percent, 30.0, 0.1);
  EXPECT_NEAR(analysis.result().interval_percent.low, 30.0, 0.1);
  EXPECT_EQ(analysis.result().verdict, Verdict::red);
  EXPECT_NEAR(analysis.breakdown.seconds, analysis.result().excess_seconds, 1e-3);
  EXPECT_EQ(analysis.cause->code, "other-processes");
  profile.evidence[index_of(Evidence::cpus)].assign(1, 0.0);
  set(profile, Evidence::busy_threads, 3.0);  // they took it from each other
  set(profile, Evidence::own_cpus, 1.0);
  EXPECT_EQ(by_default(profile).verdict, Verdict::green);
}

TEST(OwnWaiting, IsNotThatInCallsBesideSlowerComputation) {
  Profile profile = delayed();
  for (std::size_t i = 0; i < segments; ++i) {
    if (!is_delayed(profile, i)) continue;
    // One delay in two is in computation, on the CPU.
    const bool is_in_call = i % 2 == 0;
    profile.last_rank_off_cpu[i] = is_in_call ? static_cast<float>(delay_seconds) : 0.0F;
    profile.last_rank_times[static_cast<std::size_t>(TimeKind::point_to_point)][i] = profile.last_rank_off_cpu[i];
  }
  const Analysis analysis = analyze(profile, methods.front().name);
  EXPECT_LT(analysis.undecided.slept_seconds, 0.05 * lost(profile));
  EXPECT_EQ(analysis.result().verdict, Verdict::red);
}

TEST(TimePattern, TakesNoPeriodFromTheProgramsOwnOrder) {
  // Every twentieth segment writes, and one write in two is slow.
  std::mt19937 engine(1);
  std::bernoulli_distribution is_slow(0.5);
  Profile profile = delayed([&](std::size_t segment, double) { return segment % 20 == 0 && is_slow(engine); });
  FeatureColumn& writes = column(profile, Feature::writes);
  writes.bins = {0.0, 1.0};
  for (std::size_t i = 0; i < segments; ++i) writes.index.push_back(i % 20 == 0 ? 1 : 0);
  EXPECT_NE(pattern_of(profile).kind, TimePattern::Kind::periodic);
}

// Long pulses have lines at odd multiples of their rate, of which the second is first to come eight times.
TEST(TimePattern, FindsTheOwnPeriodOfWhatComesAFewTimes) {
  const double run = 40.0;
  const Profile profile =
      delayed([run](std::size_t, double begin) { return std::fmod(begin, run / 5.0) < run / 10.0; });
  const TimePattern pattern = pattern_of(profile);
  const double seconds = std::accumulate(profile.duration.begin(), profile.duration.end(), 0.0);
  ASSERT_EQ(pattern.kind, TimePattern::Kind::periodic);
  EXPECT_NEAR(pattern.period_seconds, run / 5.0, 0.1 * run) << seconds;
}

TEST(TimePattern, TellsAStretchOfHalfTheRun) {
  const TimePattern half = pattern_of(delayed([](std::size_t segment, double) {
    return segment % 10 == 0 && segment > segments / 4 && segment < 3 * segments / 4;
  }));
  ASSERT_EQ(half.kind, TimePattern::Kind::stretch);
  EXPECT_GT(half.from_seconds, 0.0);
}

TEST(TimePattern, TellsAStretchFromBursts) {
  const TimePattern stretch = pattern_of(delayed([](std::size_t segment, double) { return segment / 200 == 10; }));
  EXPECT_EQ(stretch.kind, TimePattern::Kind::stretch);
  EXPECT_GT(stretch.to_seconds, stretch.from_seconds);
  const auto in_two = [](std::size_t segment, double) { return segment / 50 == 16 || segment / 50 == 60; };
  EXPECT_EQ(pattern_of(delayed(in_two)).kind, TimePattern::Kind::bursts);
}

}  // namespace
