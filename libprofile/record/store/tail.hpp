// The tail of a part, written after a TailHeader: the records of a rank that are not in a closed block. These are
// figures, quantizers, call sites with their modules, and the segments of the open block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/format/module.hpp"
#include "libprofile/format/rank_figures.hpp"
#include "libprofile/record/parts/part_file.hpp"
#include "libprofile/record/store/call_site.hpp"
#include "libprofile/record/store/segment_store.hpp"

namespace halcyon {

/// How the recording of a part ended: one of these, or the number of a signal. `part_of_others`: not by this rank, but
/// another one of its host was ending, and had it save its records.
enum PartEnd : std::int32_t {
  part_is_running = 0,
  part_was_aborted = -1,
  part_has_exited = -2,
  part_has_finalized = -3,  // and no profile could be written
  part_of_others = -4,
};

/// The numbers at the beginning of a tail.
struct TailFacts {
  RankFigures figures;
  std::uint64_t closed_blocks = 0;
  std::uint32_t open_segments = 0;
  std::uint32_t sites = 0;
  std::uint32_t modules = 0;
  std::int32_t end = 0;        // a PartEnd
  std::uint32_t remapped = 0;  // bits of the features whose slots changed since the last closed block, one map each
};
static_assert(feature_count <= 32);

/// Visits these numbers in the order in which they are stored.
template <class Facts, class Visit>
constexpr void for_each_number_of_tail(Facts& facts, Visit&& visit) {
  for_each_figure(facts.figures, visit);
  visit(facts.closed_blocks);
  visit(facts.open_segments);
  visit(facts.sites);
  visit(facts.modules);
  visit(facts.end);
  visit(facts.remapped);
}
inline constexpr std::size_t tail_facts_size =
    packed_size<TailFacts>([](auto& facts, auto visit) { for_each_number_of_tail(facts, visit); });

inline constexpr std::size_t most_in_tail =
    tail_header_size + tail_facts_size +
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
  std::uint64_t written_segments = 0;      // more, if the file ends before the last closed block
};

/// Throws std::runtime_error if the tail contradicts itself. Closed blocks are not read.
ReadTail read_tail(const std::vector<std::byte>& tail, PartFile& part);

/// The segments of the first closed blocks, from these blocks alone. Throws std::runtime_error if the last of them is
/// not whole.
std::unique_ptr<SegmentStore> first_blocks(PartFile& part, std::size_t blocks);

}  // namespace halcyon
