#include "libprofile/reduce/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <unistd.h>

#include "libprofile/interpose/nanoseconds.hpp"

namespace halcyon {
namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;  // of the send and of the receive buffer

// One line where it takes long: a program that does not end is soon killed.
class Progress {
 public:
  explicit Progress(bool speaks) : speaks_(speaks), began_(nanoseconds_of(CLOCK_MONOTONIC)) {}
  void tell(std::size_t done, std::size_t all) {
    constexpr std::uint64_t patience = 2'000'000'000;
    if (!speaks_ || nanoseconds_of(CLOCK_MONOTONIC) - began_ < patience) return;
    speaks_ = false;
    const std::string line = "halcyon: the program has ended; merging what its ranks recorded takes a while (" +
                             std::to_string(100 * done / all) + " % after 2 s)\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  }

 private:
  bool speaks_;
  std::uint64_t began_;
};

}  // namespace

OwnedSegments exchange_segments(const World& world, const RankRecords& own_records, std::size_t segments) {
  const SegmentStore& store = *own_records.store;
  const auto ranks = static_cast<std::size_t>(world.ranks());
  const auto first = [&](int rank) { return first_owned(segments, world.ranks(), rank); };

  const ProgramNames names = merge_names(world, {own_records});
  const RowLayout layout(store.with_injection(), names.active.size());
  const RowWriter writer(names, own_records, layout);
  const std::size_t own = first(world.rank() + 1) - first(world.rank());
  const std::size_t most_owned = first(1) - first(0);
  const std::size_t rows = std::clamp<std::size_t>(piece_bytes / (layout.bytes() * ranks), 1, most_owned);
  const std::size_t stride = rows * layout.bytes();

  std::vector<std::uint32_t> all_ranks(ranks);
  std::iota(all_ranks.begin(), all_ranks.end(), 0u);
  Merger merger(names, std::move(all_ranks), store.with_injection(), own);
  std::vector<std::byte> outgoing(stride * ranks);
  std::vector<std::byte> incoming(stride * ranks);
  Progress progress(world.is_root());
  for (std::size_t done = 0; done < most_owned; done += rows) {
    progress.tell(done, most_owned);
    for (int rank = 0; rank < world.ranks(); ++rank) {
      std::byte* row = outgoing.data() + static_cast<std::size_t>(rank) * stride;
      const std::size_t end = std::min(first(rank) + done + rows, first(rank + 1));
      for (std::size_t index = first(rank) + done; index < end; ++index, row += layout.bytes()) {
        writer.write(index, row);
      }
    }
    world.all_to_all(outgoing.data(), incoming.data(), stride);
    const std::size_t arrived = done < own ? std::min(rows, own - done) : 0;
    for (std::size_t i = 0; i < arrived; ++i) merger.add(incoming.data() + i * layout.bytes(), stride, layout);
  }
  return merger.finish(world);
}

}  // namespace halcyon
