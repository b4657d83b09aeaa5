// part_corpus DIRECTORY: writes the first inputs of the target `part`: tails, as this version of the recorder writes
// them, and what was found in fuzzing. Stored files would no longer be tails when the layout of parts changes.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "libprofile/record/store/tail.hpp"

namespace {

using namespace halcyon;

struct Input {
  std::size_t segments = 0;
  double run_time = 1.0;
  PartEnd end = part_is_running;
  bool has_sites = true;
  bool has_blocks = false;             // the two of the target before it
  std::uint32_t claimed_segments = 0;  // instead of those that it has
};

std::vector<std::byte> tail_of(const Input& input) {
  PartFile part;
  SegmentStore store(input.segments, false, &part);
  for (std::size_t i = 0; i < input.segments; ++i) {
    SegmentRow row;
    row[Measure::duration] = static_cast<double>(1000 + i);
    row.features[index_of(Feature::compute)] = static_cast<double>(100 + i % 7);
    row.features[index_of(Feature::sends_blocking)] = static_cast<double>(i % 3);
    store.push(row);
  }
  RankFigures figures;
  figures.run_time = input.run_time;
  figures.nanoseconds_per_tick = 0.5;
  std::vector<CallSite> sites;
  if (input.has_sites) sites.push_back({nullptr, Boundary::barrier, "barrier@app+0x1"});
  std::vector<std::byte> tail(most_in_tail);
  tail.resize(write_tail(tail.data(), figures, input.end, store, sites, {{"app", "/opt/app", "abcd"}}));
  tail.erase(tail.begin(), tail.begin() + tail_header_size);
  TailFacts facts;
  Unpacker in(tail);
  for_each_number_of_tail(facts, [&in](auto& number) { in.get(number); });
  if (input.claimed_segments > 0) facts.open_segments = input.claimed_segments;
  if (input.has_blocks) facts.closed_blocks = 2;
  Cursor out(tail.data());
  for_each_number_of_tail(facts, [&out](const auto& number) { out.put(number); });
  return tail;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: part_corpus DIRECTORY\n", stderr), 2;
  const auto write = [argv](const char* name, const Input& input) {
    const std::vector<std::byte> tail = tail_of(input);
    std::ofstream file(std::string(argv[1]) + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(tail.data()), static_cast<std::streamsize>(tail.size()));
    return static_cast<bool>(file.flush());
  };
  constexpr int sigterm = 15;
  const bool is_written = write("no_segments", {}) && write("forty_segments", {.segments = 40}) &&
                          write("after_closed_blocks", {.segments = 5, .has_blocks = true}) &&
                          write("ended_by_a_signal", {.segments = 1, .end = static_cast<PartEnd>(sigterm)}) &&
                          write("run_time_beyond_any_run", {.segments = 20, .run_time = 1e300}) &&
                          write("segments_without_bins", {.claimed_segments = 1}) &&
                          write("segments_without_call_sites", {.segments = 1, .has_sites = false});
  return is_written ? 0 : 1;
}
