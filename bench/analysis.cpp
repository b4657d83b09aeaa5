// How the analysis, as a whole and piece by piece, grows with the number of segments and groups.
#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "analyzer/groups/clusters.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/statistics/sorting.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "libprofile/format/profile_writer.hpp"
#include "tests/truth/truth.hpp"

namespace {

using namespace halcyon;

constexpr std::int64_t most_segments = 10'000'000;
constexpr std::int64_t segments_of_many_groups = 1'000'000;
constexpr std::int64_t most_groups = 10'000;

// Keeps the last profile: making one takes longer than most of what is measured.
const Profile& profile_of(std::int64_t segments, std::int64_t groups) {
  static Profile profile;
  static std::int64_t segments_made = -1;
  static std::int64_t groups_made = -1;
  if (segments == segments_made && groups == groups_made) return profile;
  profile = {};
  truth::Run run{.segments = static_cast<std::size_t>(segments),
                 .jitter_law = truth::JitterLaw::lognormal,
                 .jitter = 0.03,
                 .hits = 2.0,
                 .slowdown = 0.25,
                 .calls = 20,
                 .in_calls = 0.7,
                 .slack = 0.005};
  run.phases.clear();
  for (std::int64_t i = 0; i < groups; ++i) {
    run.phases.push_back({.seconds = 1e-3 * (1.0 + static_cast<double>(i) / static_cast<double>(groups))});
  }
  profile = truth::make_truth(run).profile;
  segments_made = segments;
  groups_made = groups;
  return profile;
}

const Profile& profile_of(const benchmark::State& state) { return profile_of(state.range(0), state.range(1)); }

void segments_by_decades(benchmark::internal::Benchmark* one) {
  for (std::int64_t segments = 1000; segments <= most_segments; segments *= 10) one->Args({segments, 1});
  one->Unit(benchmark::kMillisecond)->Complexity(benchmark::oAuto);
}

void groups_by_decades(benchmark::internal::Benchmark* one) {
  for (std::int64_t groups = 1; groups <= most_groups; groups *= 10) one->Args({segments_of_many_groups, groups});
  one->Unit(benchmark::kMillisecond)->Complexity(benchmark::oAuto);
}

// One of the two arguments varies at a time; the complexity is computed for that one.
void grows_by_segments(benchmark::State& state) { state.SetComplexityN(state.range(0)); }
void grows_by_groups(benchmark::State& state) { state.SetComplexityN(state.range(1)); }
using Growth = void (*)(benchmark::State&);

void sorting(benchmark::State& state, Growth growth) {
  const std::vector<float>& durations = profile_of(state).duration;
  for (auto _ : state) {
    std::vector<float> values = durations;
    sort_ascending(values);
    benchmark::DoNotOptimize(values.data());
  }
  growth(state);
}

// A profile has at most 65536 values.
void clustering(benchmark::State& state, Growth growth) {
  std::vector<double> ascending;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    ascending.push_back(1e6 * (1.0 + static_cast<double>(i) / static_cast<double>(state.range(0))));
  }
  for (auto _ : state) benchmark::DoNotOptimize(cluster_ascending(ascending, relative_distance_threshold));
  growth(state);
}

void grouping(benchmark::State& state, Growth growth) {
  const Profile& profile = profile_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(group_segments(profile));
  growth(state);
}

void estimating(benchmark::State& state, Growth growth, const Method* method) {
  const Profile& profile = profile_of(state);
  const Grouping groups = group_segments(profile);
  JudgedDurations judged{.run_time = profile.run_time_seconds};
  for (std::uint32_t group = 0; group < groups.groups.count; ++group) {
    const std::vector<float> durations = durations_of(profile, groups.members(group));
    if (durations.size() >= smallest_judged_group) add_group(judged, {.durations = durations});
  }
  for (auto _ : state) benchmark::DoNotOptimize(method->estimate(judged, Detail::segments));
  growth(state);
}

void attributing(benchmark::State& state, Growth growth) {
  const Profile& profile = profile_of(state);
  const Grouping groups = group_segments(profile);
  std::vector<float> excess;
  for (const float duration : profile.duration) excess.push_back(0.2F * duration);
  for (auto _ : state) benchmark::DoNotOptimize(attribute(profile, groups, excess));
  growth(state);
}

void analyzing(benchmark::State& state, Growth growth) {
  const Profile& profile = profile_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(analyze(profile, methods.front().name));
  growth(state);
}

std::string scratch_file() { return "bench_analysis." + std::to_string(getpid()) + ".h5"; }

void writing(benchmark::State& state, Growth growth) {
  const Profile& profile = profile_of(state);
  for (auto _ : state) {
    const Outcome<std::string> written = write_profile(profile, scratch_file());
    if (!written) return state.SkipWithError(written.failure().message.c_str());
    std::remove(written->c_str());
  }
  growth(state);
}

void reading(benchmark::State& state, Growth growth) {
  const Outcome<std::string> written = write_profile(profile_of(state), scratch_file());
  if (!written) return state.SkipWithError(written.failure().message.c_str());
  for (auto _ : state) benchmark::DoNotOptimize(read_profile(*written, Columns::analyzed));
  std::remove(written->c_str());
  growth(state);
}

template <class Measure, class... Arguments>
void add(const std::string& name, Measure measure, Arguments... arguments) {
  benchmark::RegisterBenchmark((name + "/by_segments").c_str(), measure, grows_by_segments, arguments...)
      ->Apply(segments_by_decades);
  benchmark::RegisterBenchmark((name + "/by_groups").c_str(), measure, grows_by_groups, arguments...)
      ->Apply(groups_by_decades);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("sorting", sorting, grows_by_segments)->Apply(segments_by_decades);
  benchmark::RegisterBenchmark("clustering", clustering, grows_by_segments)->Apply(segments_by_decades);
  add("grouping", grouping);
  for (const Method& method : methods) add(std::string(method.name), estimating, &method);
  add("attributing", attributing);
  add("analyzing", analyzing);
  add("writing", writing);
  add("reading", reading);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
