#include "libprofile/merge/merged_run.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "libprofile/format/packer.hpp"
#include "libprofile/format/send_profile.hpp"
#include "libprofile/merge/merger.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {
namespace {

constexpr std::size_t piece_bytes = std::size_t{8} << 20;  // of the send and of the receive buffer
constexpr std::size_t segments_per_message = 65536;        // from an owner to the root: some 4 MiB

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// The facts that must be the same on all ranks before anything can be merged, and whether they are.
struct Agreement {
  bool boundaries = true;
  bool counters = true;
  std::string disagreement;    // at the root
  std::uint64_t segments = 0;  // that all ranks still have, counted from the first
  std::uint64_t dropped = 0;
};

std::vector<std::byte> bytes_of(const std::vector<std::uint64_t>& values) {
  Packer packer;
  packer.put(values.data(), values.size());
  return packer.take();
}

// The facts of one rank that are compared.
struct Met {
  std::uint64_t segments;
  std::uint64_t kinds;
  std::uint64_t counter;
  std::uint64_t with_injection;
};

std::string difference(const Met& first, const Met& other, std::size_t rank) {
  const std::string who = "rank " + std::to_string(rank);
  if (other.segments != first.segments) {  // one more than boundaries: MPI_Finalize ends the last segment
    return who + " passed " + plural(other.segments - 1, "boundary", "boundaries") + ", rank 0 passed " +
           std::to_string(first.segments - 1);
  }
  if (other.kinds != first.kinds) return who + " passed other kinds of boundaries than rank 0";
  if (other.with_injection != first.with_injection) return "libintm.so is loaded into some ranks only";
  return {};
}

Agreement check_agreement(const Exchange& exchange, const RankRecording& own) {
  const std::uint64_t count = own.store->size() + own.store->dropped();
  const std::vector<std::uint64_t> met{count, own.boundary_kinds, hash_of(own.facts.counter),
                                       own.store->with_injection() ? 1u : 0u};
  // All ranks have the same value v if min(v) equals ~min(~v).
  std::vector<std::uint64_t> values = met;
  for (const std::uint64_t value : met) values.push_back(~value);
  values.push_back(own.segments);
  const std::vector<std::uint64_t> least = exchange.least(values);
  const auto agree = [&](std::size_t which) { return least[which] == ~least[met.size() + which]; };
  Agreement agreement;
  agreement.boundaries = agree(0) && agree(1) && agree(3);
  agreement.counters = agree(2);
  agreement.dropped = count - least.back();
  agreement.segments = agreement.boundaries ? least.back() : 0;
  if (agreement.boundaries) return agreement;
  const std::vector<std::byte> gathered = exchange.gather(bytes_of(met));
  if (!exchange.is_root()) return agreement;
  Unpacker unpacker(gathered);
  const auto next = [&unpacker] {
    Met one{};
    for (std::uint64_t* value : {&one.segments, &one.kinds, &one.counter, &one.with_injection}) unpacker.get(*value);
    return one;
  };
  const Met first = next();
  for (std::size_t rank = 1; !unpacker.at_end() && agreement.disagreement.empty(); ++rank) {
    agreement.disagreement = difference(first, next(), rank);
  }
  return agreement;
}

// The figures of all ranks, at the root; elsewhere none. Names and numbers come one after the other, so that the root
// never has both as they were sent.
RankColumns gather_figures(const Exchange& exchange, const RankFigures& own) {
  RankColumns columns;
  const auto gather = [&](auto for_each, auto add) {
    Packer packer;
    for_each(own, [&packer](const auto& number) { packer.put(number); });
    const std::vector<std::byte> gathered = exchange.gather(packer.take());
    for (Unpacker unpacker(gathered); exchange.is_root() && !unpacker.at_end();) {
      RankFigures rank;
      for_each(rank, [&unpacker](auto& number) { unpacker.get(number); });
      add(rank);
    }
  };
  gather([](auto& figures, auto visit) { for_each_name(figures, visit); },
         [&columns](const RankFigures& rank) { columns.add_names(rank); });
  gather([](auto& figures, auto visit) { for_each_other_figure(figures, visit); },
         [&columns](const RankFigures& rank) { columns.add_other_figures(rank); });
  return columns;
}

Profile merge_share(const Exchange& exchange, const RankRecords& records, std::size_t segments,
                    const MergeProgress& progress) {
  const SegmentStore& store = *records.store;
  const auto ranks = static_cast<std::size_t>(exchange.ranks());
  const auto first = [&](int rank) { return first_owned(segments, exchange.ranks(), rank); };

  OwnNames own_names;
  own_names.add(records);
  const ProgramNames names = merge_names(exchange, own_names);
  const RowLayout layout(store.with_injection(), names.active.size());
  const RowWriter writer(names, records, layout);
  RankSections sums;
  const Peers peers = compare_ranks(exchange, records, segments, sums);
  const std::size_t own = first(exchange.rank() + 1) - first(exchange.rank());
  const std::size_t most_owned = first(1) - first(0);
  const std::size_t rows = std::clamp<std::size_t>(piece_bytes / (layout.bytes() * ranks), 1, most_owned);
  const std::size_t stride = rows * layout.bytes();

  std::vector<std::uint32_t> all_ranks(ranks);
  std::iota(all_ranks.begin(), all_ranks.end(), 0u);
  Merger merger(names, std::move(all_ranks), peers, store.with_injection(), own);
  std::vector<std::byte> outgoing(stride * ranks);
  std::vector<std::byte> incoming(stride * ranks);
  for (std::size_t done = 0; done < most_owned; done += rows) {
    if (exchange.is_root() && progress) progress(done, most_owned);
    for (int rank = 0; rank < exchange.ranks(); ++rank) {
      std::byte* row = outgoing.data() + static_cast<std::size_t>(rank) * stride;
      const std::size_t end = std::min(first(rank) + done + rows, first(rank + 1));
      for (std::size_t index = first(rank) + done; index < end; ++index, row += layout.bytes()) {
        writer.write(index, row);
      }
    }
    exchange.all_to_all(outgoing.data(), incoming.data(), stride);
    const std::size_t arrived = done < own ? std::min(rows, own - done) : 0;
    for (std::size_t i = 0; i < arrived; ++i) merger.add(incoming.data() + i * layout.bytes(), stride, layout);
  }
  Profile profile = merger.finish(exchange);
  profile.sections = std::move(sums);
  return profile;
}

}  // namespace

std::size_t first_owned(std::size_t segments, int ranks, int rank) {
  return segments / static_cast<std::size_t>(ranks) * static_cast<std::size_t>(rank) +
         std::min(segments % static_cast<std::size_t>(ranks), static_cast<std::size_t>(rank));
}

std::size_t memory_to_merge(std::size_t segments, int ranks) {
  constexpr std::size_t of_buffers = 8 * piece_bytes;       // the rank's own, MPI's, and what the root passes on
  constexpr std::size_t of_segment = std::size_t{2} << 10;  // its columns, while their vectors grow
  constexpr std::size_t of_rank = std::size_t{7} << 10;     // its figures, names and sections
  return of_buffers + first_owned(segments, ranks, 1) * of_segment + static_cast<std::size_t>(ranks) * of_rank;
}

MergedRun merge_run(const Exchange& exchange, const RankRecording& own, const MergeProgress& progress) {
  const Agreement agreement = check_agreement(exchange, own);
  MergedRun run{.profile = {}, .segments = agreement.segments};
  RunFacts facts = own.facts;
  if (!agreement.counters) facts.counter = "none";
  if (run.segments > 0) {
    const double nanoseconds_per_tick = own.figures.nanoseconds_per_tick;
    const RankRecords records{.store = own.store,
                              .sites = own.sites,
                              .nanoseconds_per_tick = nanoseconds_per_tick,
                              .compute_scale = compute_scale(facts.counter, nanoseconds_per_tick)};
    run.profile = merge_share(exchange, records, run.segments, progress);
  }
  RankColumns figures = gather_figures(exchange, own.figures);
  if (!exchange.is_root()) return run;
  run.profile.segments = run.segments;
  static_cast<RunFacts&>(run.profile) = facts;
  figures.put_into(run.profile);
  run.profile.exit_state = "finalized";
  run.profile.incomplete = own.incomplete;
  run.profile.disagreement = agreement.disagreement;
  run.profile.dropped_segments = agreement.dropped;
  if (run.segments > 0) run.profile.modules = own.modules;
  return run;
}

void send_merged_run(const Exchange& exchange, const MergedRun& run, Sink& sink) {
  if (exchange.is_root()) send_run(run.profile, sink);
  if (run.segments == 0) return;
  const std::vector<ColumnBytes> columns = segment_columns(run.profile);
  const auto pack = [&columns](std::size_t from, std::size_t count) {
    Packer packer;
    for (const ColumnBytes& column : columns) {
      packer.put(column.data + from * size_of(column.type), count * size_of(column.type));
    }
    return packer.take();
  };
  // The owners send in order, one message at a time. The root passes small shares on together: each value that it
  // passes on has a cost of its own.
  std::vector<std::vector<std::byte>> waiting(columns.size());
  std::size_t segments_waiting = 0;
  const auto pass_on = [&] {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      sink.column(columns[i].name, columns[i].type, waiting[i].data(), waiting[i].size());
      waiting[i].clear();
    }
    segments_waiting = 0;
  };
  for (int owner = 0; owner < exchange.ranks(); ++owner) {
    if (!exchange.is_root() && exchange.rank() != owner) continue;
    const std::size_t share =
        first_owned(run.segments, exchange.ranks(), owner + 1) - first_owned(run.segments, exchange.ranks(), owner);
    for (std::size_t from = 0; from < share; from += segments_per_message) {
      const std::size_t count = std::min(segments_per_message, share - from);
      if (!exchange.is_root()) {
        exchange.send(0, pack(from, count));
        continue;
      }
      const std::vector<std::byte> message = owner == 0 ? pack(from, count) : exchange.receive(owner);
      auto at = message.begin();
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto end = at + static_cast<std::ptrdiff_t>(count * size_of(columns[i].type));
        waiting[i].insert(waiting[i].end(), at, end);
        at = end;
      }
      segments_waiting += count;
      if (segments_waiting >= segments_per_message) pass_on();
    }
  }
  if (exchange.is_root() && segments_waiting > 0) pass_on();
}

}  // namespace halcyon
