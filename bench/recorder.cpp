// The cost of what the recorder does at a call and at a boundary, piece by piece, with input that is easy for a piece
// and input that is hard.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "libprofile/live/writer.hpp"
#include "libprofile/merge/program_bins.hpp"
#include "libprofile/record/cpu_account.hpp"
#include "libprofile/record/parts/part_file.hpp"
#include "libprofile/record/store/segment_store.hpp"
#include "libprofile/record/usual_times.hpp"
#include "libprofile/shared/clock.hpp"

namespace {

using namespace halcyon;

enum class Stream { one_value, uniform, heavy_tailed, adversarial };

// `adversarial`: each value is new and has a large relative distance from all others, so that each insertion merges
// bins.
std::vector<double> values_of(Stream stream) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<> uniform(1e6, 2e6);
  std::lognormal_distribution<> heavy(12.0, 3.0);
  std::vector<double> values(1 << 16);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = stream == Stream::one_value      ? 1e6
                : stream == Stream::uniform      ? uniform(engine)
                : stream == Stream::heavy_tailed ? heavy(engine)
                                                 : std::exp2(static_cast<double>((i * 40503) % values.size()) / 64.0);
  }
  return values;
}

void quantizer_insert(benchmark::State& state, Stream stream) {
  const std::vector<double> values = values_of(stream);
  RankQuantizer quantizer;
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(quantizer.insert(values[i++ % values.size()]));
}
BENCHMARK_CAPTURE(quantizer_insert, one_value, Stream::one_value);
BENCHMARK_CAPTURE(quantizer_insert, uniform, Stream::uniform);
BENCHMARK_CAPTURE(quantizer_insert, heavy_tailed, Stream::heavy_tailed);
BENCHMARK_CAPTURE(quantizer_insert, adversarial, Stream::adversarial);

// The time per segment, which must not depend on the number of segments.
void segments_stored(benchmark::State& state) {
  const std::vector<double> values = values_of(Stream::heavy_tailed);
  const auto count = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    SegmentStore store(count, false);
    for (std::size_t i = 0; i < count; ++i) {
      SegmentRow row;
      row[Measure::duration] = static_cast<double>(1000 + i % 100);
      row.features[index_of(Feature::compute)] = values[i % values.size()];
      row.features[index_of(Feature::sends_blocking)] = static_cast<double>(i % 7);
      store.push(row);
    }
    store.settle();
    benchmark::DoNotOptimize(store.get(count / 2));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(segments_stored)->RangeMultiplier(10)->Range(1000, 10000000)->Unit(benchmark::kMillisecond)->Complexity();

void clock_read(benchmark::State& state) {
  const Clock clock;
  for (auto _ : state) benchmark::DoNotOptimize(clock.now());
}
BENCHMARK(clock_read);

void cpu_clock_read(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID));
}
BENCHMARK(cpu_clock_read);

// Short stretches, whose CPU time is not read, and now and then their sum.
void cpu_account(benchmark::State& state) {
  CpuAccount account;
  const CpuClockUse use = CpuClockUse::at(2.0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(account.on_cpu({1000}, use, [] { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }));
  }
}
BENCHMARK(cpu_account);

// Calls from a given number of places in the program.
void usual_times(benchmark::State& state) {
  UsualTimes usual;
  const auto places = static_cast<std::uint64_t>(state.range(0));
  std::uint64_t i = 0;
  for (auto _ : state) {
    if (i % 16 == 0) usual.segment_begins();
    const auto* place = reinterpret_cast<const void*>(0x1000 + 16 * (i % places));
    benchmark::DoNotOptimize(usual.beyond(place, 8 * (i % 3), {1000 + i % 64}, {2000}));
    ++i;
  }
}
BENCHMARK(usual_times)->Arg(1)->Arg(16)->Arg(256);

// Segments of a given number of kinds. Short ones are sorted one in eight.
void live_record(benchmark::State& state, double nanoseconds) {
  char root[] = "/dev/shm/halcyon-bench-XXXXXX";
  if (mkdtemp(root) == nullptr) return state.SkipWithError("no shared memory");
  live::Writer writer;
  writer.join({.record = "bench", .ranks = 1}, root);
  std::filesystem::remove_all(root);
  if (!writer.is_on()) return state.SkipWithError("no live record");
  const auto kinds = static_cast<std::size_t>(state.range(0));
  std::vector<std::array<double, feature_count>> features(kinds);
  for (std::size_t kind = 0; kind < kinds; ++kind) features[kind][index_of(Feature::reads)] = static_cast<double>(kind);
  Measured<double> measured{};
  std::size_t i = 0;
  for (auto _ : state) {
    measured[index_of(Measure::duration)] = nanoseconds + static_cast<double>(i % 64);
    writer.add(measured, features[i++ % kinds], 0, "");
    benchmark::DoNotOptimize(writer.is_asked_to_stop());
  }
}
BENCHMARK_CAPTURE(live_record, short_segments, 1e3)->Arg(1)->Arg(16)->Arg(64);
BENCHMARK_CAPTURE(live_record, long_segments, 1e6)->Arg(1)->Arg(16)->Arg(64);

// The checksum of a block of 4096 segments, as it lies in a part.
void block_checksum(benchmark::State& state) {
  const std::vector<std::byte> bytes(bytes_before_maps(false), std::byte{7});
  for (auto _ : state) benchmark::DoNotOptimize(checksum_of(bytes.data(), bytes.size(), 1));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(block_checksum);

// Writing it, with its checksum, into shared memory.
void block_written(benchmark::State& state) {
  char directory[] = "/dev/shm/halcyon-bench-XXXXXX";
  if (mkdtemp(directory) == nullptr) return state.SkipWithError("no shared memory");
  {
    PartHeader header;
    header.ranks = 1;
    PartFile part;
    part.place(directory, "1", header, {}, 4096);
    const OwnedBlock block = empty_block();
    for (auto _ : state) benchmark::DoNotOptimize(part.write_block(0, *block));
  }
  std::filesystem::remove_all(directory);
}
BENCHMARK(block_written);

void nearest_program_bin(benchmark::State& state) {
  std::vector<double> bins;
  for (int i = 0; i < 512; ++i) bins.push_back(std::exp2(i / 16.0));
  const std::vector<double> values = values_of(Stream::heavy_tailed);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(nearest_bin(bins, values[i++ % values.size()]));
}
BENCHMARK(nearest_program_bin);

}  // namespace

BENCHMARK_MAIN();
