// What of a rank's records is not in a closed block, as it is written behind a TailHeader: figures, quantizers, call
// sites with the modules that they are in, and the segments of the open block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/record/call_site.hpp"
#include "libprofile/record/facts.hpp"
#include "libprofile/record/part_file.hpp"
#include "libprofile/record/segment_store.hpp"

namespace halcyon {

/// How the recording of a part ended: a signal's number, or one of these.
enum PartEnd : std::int32_t { part_is_running = 0, part_was_aborted = -1, part_has_exited = -2 };

struct TailFacts {
  RankFigures figures;
  std::uint64_t closed_blocks;
  std::uint32_t open_segments;
  std::uint32_t sites;
  std::uint32_t modules;
  std::int32_t end;        // a PartEnd
  std::uint32_t remapped;  // features whose slots have changed since the last closed block: a bit and a map each
};
static_assert(feature_count <= 32);

inline constexpr std::size_t most_sites = 255;
inline constexpr std::size_t most_site_text = 255;  // longer ones are cut in a tail
inline constexpr std::size_t most_modules = 64;
inline constexpr std::size_t most_module_text = 1023;  // those of a longer path are left out
inline constexpr std::size_t most_in_tail =
    sizeof(TailHeader) + sizeof(TailFacts) +
    feature_count * (sizeof(std::uint32_t) + 256 * (2 * sizeof(double) + sizeof(RankQuantizer::Slot))) +
    most_sites * (sizeof(std::uint32_t) + most_site_text) +
    most_modules * 3 * (sizeof(std::uint32_t) + most_module_text) + sizeof(SegmentBlock);

/// Writes a tail with room for its header; returns its size. Async-signal-safe.
std::size_t write_tail(std::byte* tail, const RankFigures& figures, PartEnd end, const SegmentStore& segments,
                       const std::vector<CallSite>& sites, const std::vector<Module>& modules);

/// A tail as it is read back, without its header.
struct ReadTail {
  RankFigures figures;
  PartEnd end = part_is_running;
  std::vector<std::string> sites;
  std::vector<Module> modules;
  std::unique_ptr<SegmentStore> segments;  // reads closed blocks from the part
};

/// Throws std::runtime_error where the tail contradicts itself.
ReadTail read_tail(const std::vector<std::byte>& tail, PartFile& part);

}  // namespace halcyon
