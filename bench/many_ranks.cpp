// The cost of many ranks, without as many processors:
//   many_ranks parts RANKS SEGMENTS FILE.h5.parts   writes the parts of a run that was killed
//   many_ranks merge RANKS SEGMENTS                 merges simulated ranks, each a thread, over an exchange in memory
// `merge` prints one line of JSON: CPU time and the most memory of rank 0, and of the rank among the others that had
// most. Times of the MPI library and of writing the file are not in it.
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "libprofile/format/boundary.hpp"
#include "libprofile/format/run_facts.hpp"
#include "libprofile/merge/merged_run.hpp"
#include "libprofile/record/store/tail.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "tests/unit/in_memory_exchange.hpp"

namespace {

// What this thread has allocated, less what it has freed, and the most of that so far.
thread_local std::int64_t held = 0;
thread_local std::int64_t most_held = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  held += static_cast<std::int64_t>(malloc_usable_size(memory));
  most_held = std::max(most_held, held);
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace {

using namespace halcyon;

constexpr int ranks_per_host = 64;

// A program of two kinds of steps, whose work differs a little from step to step and from rank to rank.
void record(SegmentStore& store, int rank, std::size_t segments) {
  std::mt19937 engine(static_cast<unsigned>(rank + 1));
  std::normal_distribution<> noise(0.0, 0.01);
  for (std::size_t i = 0; i < segments; ++i) {
    const bool is_long = i % 10 == 9;
    SegmentRow row;
    row[Measure::duration] = (is_long ? 5e6 : 1e6) * (1.0 + 0.01 * static_cast<double>(i % 13));
    row[Measure::boundary] =
        row[Measure::duration] * 0.1 * static_cast<double>((static_cast<std::size_t>(rank) + i) % 7);
    row.features[index_of(Feature::compute)] = (is_long ? 3e6 : 6e5) * (1.0 + noise(engine));
    row.features[index_of(Feature::sends_nonblocking)] = 6.0;
    row.features[index_of(Feature::bytes_sent)] = is_long ? 65536.0 : 8192.0;
    row.features[index_of(Feature::writes)] = is_long ? 1.0 : 0.0;
    row.site = is_long ? 1 : 0;
    store.push(row);
  }
}

RankFigures figures_of(int rank) {
  RankFigures figures;
  std::snprintf(figures.host.data(), figures.host.size(), "node%05d", rank / ranks_per_host);
  std::snprintf(figures.cpu.data(), figures.cpu.size(), "Example CPU 7000 64-Core Processor");
  figures.run_time = 10.0;
  figures.nanoseconds_per_tick = 1.0;
  figures.boundary_cost = 2e-7;
  figures.clock_resolution = 1e-9;
  return figures;
}

RunFacts facts_of_run() {
  return {.recorder_version = HALCYON_VERSION,
          .command = "./app",
          .mpi = "simulated",
          .counter = "cpu",
          .compute_units = "ns",
          .start_time = "2026-01-01T00:00:00Z"};
}

bool write_parts(int ranks, std::size_t segments, const std::string& directory) {
  const std::vector<CallSite> sites{{nullptr, Boundary::allreduce, "allreduce@app+0x10"},
                                    {nullptr, Boundary::barrier, "barrier@app+0x20"}};
  std::vector<std::byte> tail(most_in_tail);
  for (int rank = 0; rank < ranks; ++rank) {
    PartHeader header;
    header.run = 1;
    header.rank = static_cast<std::uint32_t>(rank);
    header.ranks = static_cast<std::uint32_t>(ranks);
    PartFile part;
    part.place(directory, "0000000000000001", header, pack_facts(facts_of_run()), most_in_tail);
    SegmentStore store(segments, false, &part);
    record(store, rank, segments);
    const bool are_blocks_written = store.spill();
    const std::size_t bytes = write_tail(tail.data(), figures_of(rank), part_is_running, store, sites, {});
    if (!are_blocks_written || !part.write_tail(tail.data(), bytes)) return false;
  }
  return true;
}

// Counts the bytes that would go to the writer process.
class CountingSink final : public Sink {
 public:
  std::size_t bytes() const { return bytes_; }

 private:
  void put(FrameKind, ElementType, std::string_view name, const void*, std::size_t bytes) override {
    bytes_ += name.size() + bytes;
  }
  std::size_t bytes_ = 0;
};

struct Cost {
  double cpu_seconds = 0.0;
  std::int64_t bytes = 0;
};

bool merge(int ranks, std::size_t segments) {
  std::vector<Cost> costs(static_cast<std::size_t>(ranks));
  const bool ran = testing::run_ranks(ranks, [&](const Exchange& exchange) {
    SegmentStore store(segments, false);
    record(store, exchange.rank(), segments);
    store.settle();
    const RankRecording own{.store = &store,
                            .segments = store.size(),
                            .sites = {"allreduce@app+0x10", "barrier@app+0x20"},
                            .modules = {},
                            .boundary_kinds = 7,
                            .facts = facts_of_run(),
                            .figures = figures_of(exchange.rank())};
    CountingSink sink;
    const std::int64_t held_before = held;
    most_held = held;
    const std::uint64_t began = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
    const MergedRun merged = merge_run(exchange, own, {});
    send_merged_run(exchange, merged, sink);
    costs[static_cast<std::size_t>(exchange.rank())] = {
        .cpu_seconds = 1e-9 * static_cast<double>(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - began),
        .bytes = most_held - held_before};
  });
  if (!ran) return std::fputs("the machine does not let so many threads start\n", stderr), false;
  Cost most;
  double all_seconds = 0.0;
  for (const Cost& cost : costs) {
    all_seconds += cost.cpu_seconds;
    if (&cost == &costs.front()) continue;
    most.cpu_seconds = std::max(most.cpu_seconds, cost.cpu_seconds);
    most.bytes = std::max(most.bytes, cost.bytes);
  }
  std::printf(
      "{\"root_seconds\": %.6f, \"root_bytes\": %lld, \"other_seconds\": %.6f, \"other_bytes\": %lld, "
      "\"mean_seconds\": %.6f}\n",
      costs.front().cpu_seconds, static_cast<long long>(costs.front().bytes), most.cpu_seconds,
      static_cast<long long>(most.bytes), all_seconds / ranks);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "parts" && argc == 5)
    return write_parts(std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10), argv[4]) ? 0 : 1;
  if (what == "merge" && argc == 4) return merge(std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10)) ? 0 : 1;
  return std::fputs("usage: many_ranks parts RANKS SEGMENTS FILE.h5.parts | merge RANKS SEGMENTS\n", stderr), 2;
}
