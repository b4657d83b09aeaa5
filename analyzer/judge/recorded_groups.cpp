#include "analyzer/judge/recorded_groups.hpp"

#include <algorithm>

#include "analyzer/evidence/cpu_waits.hpp"

namespace halcyon {
namespace {

// MPI and file operations in a segment, over all ranks.
double calls_of(const Profile& profile, std::size_t segment) {
  double calls = 0.0;
  for (const FeatureInfo& info : features) {
    const FeatureColumn& column = profile.features[index_of(info.feature)];
    if (info.kind == FeatureKind::count && !column.bins.empty()) calls += column.bins[column.bin_of(segment)];
  }
  return calls;
}

std::vector<float> seconds_of(const std::vector<float>& column, std::span<const std::uint32_t> members) {
  std::vector<float> values;
  values.reserve(members.size());
  for (const std::uint32_t segment : members) values.push_back(column[segment]);
  return values;
}

std::vector<float> work_of_each(const FeatureColumn& work, std::span<const std::uint32_t> members) {
  std::vector<float> values;
  values.reserve(members.size());
  for (const std::uint32_t segment : members) values.push_back(static_cast<float>(work.bins[work.bin_of(segment)]));
  return values;
}

}  // namespace

JudgedDurations recorded_groups(const Profile& profile, const Grouping& grouping, const PeerComparison& peers,
                                const Families& families) {
  JudgedDurations run{.run_time = profile.run_time_seconds,
                      .work_is_time = profile.counter == "cpu",
                      .is_on_several_hosts = profile.hosts().size() > 1};
  const FeatureColumn& compute = work_of(profile, grouping);
  const bool counts_work = compute.bins.size() > 1;
  if (grouping.speeds) run.speed_pattern = grouping.speeds->pattern;
  const std::size_t segments = families.segments();
  run.durations.reserve(segments);
  run.ascending.reserve(segments);
  if (!profile.calls_beyond_usual.empty()) run.beyond_usual.reserve(segments);
  const bool knows_losses = !profile.lost_to_cpu_wait.empty() && cpu_waits_are_of_others(profile);
  if (knows_losses) run.surely_lost.reserve(segments);
  const std::vector<float> lost_to_slow_ranks = lost_to_slower_machine(profile, peers);
  run.slow_ranks.reserve(lost_to_slow_ranks.empty() ? 0 : segments);
  run.slow_ranks_interval = relative_interval(peers.slower);
  if (counts_work) run.work.reserve(segments);
  const bool has_one_rank = profile.largest_work.bins.empty();
  // What a device took may have been disturbed, and is not needed for sure.
  const bool needs_largest_work = !has_one_rank || grouping.work_has_devices;
  if (needs_largest_work) run.largest_work.reserve(segments);
  const FeatureColumn& largest = has_one_rank ? profile.features[index_of(Feature::compute)] : profile.largest_work;
  for (const Family& family : families.all()) {
    const std::span<const std::uint32_t> members = family.members;
    std::vector<float> beyond_usual;
    if (!profile.calls_beyond_usual.empty()) beyond_usual = seconds_of(profile.calls_beyond_usual, members);
    std::vector<float> surely_lost;
    if (knows_losses) surely_lost = seconds_of(profile.lost_to_cpu_wait, members);
    std::vector<float> slow_ranks;
    if (!lost_to_slow_ranks.empty()) slow_ranks = seconds_of(lost_to_slow_ranks, members);
    std::vector<float> work;
    if (counts_work) work = work_of_each(compute, members);
    std::vector<float> largest_work;
    if (needs_largest_work) largest_work = work_of_each(largest, members);
    for (const std::uint32_t segment : grouping.speeds ? members : std::span<const std::uint32_t>()) {
      const float slowness = grouping.speeds->slowness[segment];
      const float slow = profile.duration[segment] * (1.0F - 1.0F / slowness);
      grouping.speeds_may_be_work ? run.perhaps_slow.push_back(slow) : run.slowness.push_back(slowness);
    }
    const std::vector<float> durations = durations_of(profile, members);
    for (std::size_t i = 0; i < surely_lost.size(); ++i) surely_lost[i] = std::min(surely_lost[i], durations[i]);
    std::vector<float> expected = family.expected;
    if (families.are_joined()) expected.resize(members.size(), 1.0F);
    add_group(run, {.durations = durations,
                    .beyond_usual = beyond_usual,
                    .surely_lost = surely_lost,
                    .slow_ranks = slow_ranks,
                    .work = work,
                    .largest_work = largest_work,
                    .expected = expected,
                    .is_joined = family.groups.size() > 1,
                    .calls = calls_of(profile, members.front())});
  }
  return run;
}

std::vector<float> by_segment(const Profile& profile, const Families& families, const std::vector<float>& values) {
  std::vector<float> result(profile.segments, 0.0F);
  auto value = values.begin();
  for (const Family& family : families.all()) {
    for (const std::uint32_t segment : family.members) result[segment] = *value++;
  }
  return result;
}

}  // namespace halcyon
