#include "libprofile/reduce/reduce.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "libprofile/format/stream.hpp"
#include "libprofile/record/packing.hpp"
#include "libprofile/record/receipt.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/record/signal_blocked.hpp"
#include "libprofile/reduce/exchange.hpp"
#include "libprofile/reduce/outgoing.hpp"
#include "libprofile/reduce/writer_process.hpp"

namespace halcyon {
namespace {

constexpr std::size_t segments_per_message = 65536;  // from an owner to the root: some 4 MiB

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// How many can be merged: none where some that were spilled cannot be read back. The other ranks wait for this one, and
// must hear of it.
std::uint64_t settled_segments(Recorder& run) try {
  const auto settle_unless_spilled = [&run] {
    const Change change(run, current_thread());
    const bool is_ours = !is_being_left();
    if (is_ours) run.segments->settle();
    return is_ours;
  };
  if (!settle_unless_spilled()) {
    wait_until_spilled();
    run.segments->settle();
  }
  return run.segments->size();
} catch (const std::exception& error) {
  complain(error.what());
  return 0;
}

// What must be the same on all ranks before anything can be merged.
struct Agreement {
  bool boundaries = true;
  bool counters = true;
  std::string disagreement;    // at the root
  std::uint64_t segments = 0;  // from the start, that all ranks still have
  std::uint64_t dropped = 0;
};

Agreement check_agreement(const World& world, const Recorder& run, std::uint64_t stored) {
  const std::uint64_t count = run.segments->size() + run.segments->dropped();
  const std::vector<std::uint64_t> own{count, run.boundary_kinds_hash, hash_of(run.counter.name()),
                                       run.segments->with_injection() ? 1u : 0u, stored};
  std::vector<std::uint64_t> least;
  std::vector<std::uint64_t> most;
  world.min_and_max(own, least, most);
  Agreement agreement;
  agreement.boundaries = least[0] == most[0] && least[1] == most[1] && least[3] == most[3];
  agreement.counters = least[2] == most[2];
  agreement.dropped = count - least[4];
  agreement.segments = agreement.boundaries ? least[4] : 0;
  if (agreement.boundaries) return agreement;
  const std::vector<std::uint64_t> all = world.gather(own.data(), own.size());
  for (std::size_t rank = 1; world.is_root() && rank < all.size() / own.size(); ++rank) {
    const std::uint64_t* other = &all[rank * own.size()];
    const std::string who = "rank " + std::to_string(rank);
    if (other[0] != own[0]) {  // segments are one more than boundaries: MPI_Finalize ends the last
      agreement.disagreement =
          who + " met " + std::to_string(other[0] - 1) + " boundaries, rank 0 met " + std::to_string(own[0] - 1);
    } else if (other[1] != own[1]) {
      agreement.disagreement = who + " met other kinds of boundaries than rank 0";
    } else if (other[3] != own[3]) {
      agreement.disagreement = "libintm.so is loaded into some ranks only";
    }
    if (!agreement.disagreement.empty()) break;
  }
  return agreement;
}

RankRecords records_of(const Recorder& run, bool with_compute) {
  const double nanoseconds_per_tick = run.scale.nanoseconds_per_tick();
  RankRecords records{.store = run.segments.get(),
                      .nanoseconds_per_tick = nanoseconds_per_tick,
                      .compute_scale = compute_scale(with_compute ? run.counter.name() : "none", nanoseconds_per_tick)};
  for (const CallSite& site : run.sites) records.sites.push_back(site.text);
  return records;
}

// Owners in order, a message at a time: the root holds one message of one owner.
void send_segments(const World& world, std::size_t segments, const OwnedSegments& owned, bool with_injection,
                   FrameWriter& frames) {
  const std::vector<OutgoingColumn> columns = columns_of(owned, with_injection);
  const auto pack = [&columns](std::size_t from, std::size_t count) {
    Packer packer;
    for (const OutgoingColumn& column : columns) {
      packer.put(column.data + from * size_of(column.type), count * size_of(column.type));
    }
    return packer.take();
  };
  for (int owner = 0; owner < world.ranks(); ++owner) {
    if (!world.is_root() && world.rank() != owner) continue;
    const std::size_t share =
        first_owned(segments, world.ranks(), owner + 1) - first_owned(segments, world.ranks(), owner);
    for (std::size_t from = 0; from < share; from += segments_per_message) {
      const std::size_t count = std::min(segments_per_message, share - from);
      if (!world.is_root()) {
        world.send(0, pack(from, count));
        continue;
      }
      const std::vector<std::byte> message = owner == 0 ? pack(from, count) : world.receive(owner);
      std::size_t at = 0;
      for (const OutgoingColumn& column : columns) {
        frames.column_bytes(column.type, column.name, message.data() + at, count * size_of(column.type));
        at += count * size_of(column.type);
      }
    }
  }
}

bool told_by_the_root(const World& world, bool good) {
  std::vector<char> answer{good ? '\1' : '\0'};
  world.broadcast(answer);
  return answer.front() != '\0';
}

// At the root; elsewhere nothing.
struct Writer {
  Writer(const World& world, const std::string& path) : is_started(world.is_root() && process.start(path, error)) {}

  WriterProcess process;
  std::string error;
  bool is_started;
};

// The profile of the run in one file, by all ranks together; at the root its name. Then what is recorded is saved.
Outcome<std::string> write_with(Writer& writer, const World& world, const RunFacts& facts,
                                const std::vector<RankFigures>& figures, const RunEnd& end, const OwnedSegments& owned,
                                Recorder& run) {
  FrameWriter frames(writer.process.input());
  if (world.is_root()) send_facts(facts, figures, end, frames);
  if (end.segments > 0) {
    if (world.is_root()) send_bins(owned, run.modules, frames);
    send_segments(world, end.segments, owned, run.segments->with_injection(), frames);
  }
  if (!world.is_root()) {
    if (!told_by_the_root(world, false)) return Failure{"the root cannot write it"};
    const Change change(run, current_thread());
    run.unsaved.store(false);
    run.part.remove();
    return std::string();
  }
  // From its end on the profile will be there. A signal is answered when it is, and the ranks and who waits for the run
  // know of it; where one came before, there are parts, and must be no profile.
  const Change change(run, current_thread());
  if (run.unsaved.load() && !is_being_left()) frames.end();
  const Outcome<std::string> written =
      writer.is_started ? writer.process.finish() : Outcome<std::string>(Failure{writer.error});
  if (written) {
    run.unsaved.store(false);
    run.part.remove_run();
    leave_receipt(run.settings.receipt.c_str(), written->c_str());
  }
  told_by_the_root(world, static_cast<bool>(written));
  return written;
}

// Where a profile goes that its own place does not take: a full disk, a directory that is gone.
std::string second_place(const std::string& path) {
  const char* directory = std::getenv("TMPDIR");
  return std::string(directory != nullptr && *directory != '\0' ? directory : "/tmp") + "/" +
         path.substr(path.rfind('/') + 1);
}

}  // namespace

void reduce_and_write(Recorder& run) {
  const SignalBlocked no_sigpipe(SIGPIPE);  // a writer that dies must not take the application with it
  const World world(run.rank, run.ranks);
  const std::string path = expand_output(run.settings.output, run.ranks, timestamp_of(run.start_time.tv_sec));
  Writer writer(world, path);  // before merging, since it takes as long to load HDF5
  const Agreement agreement = check_agreement(world, run, settled_segments(run));
  const RunEnd end{.exit_state = "finalized",
                   .disagreement = agreement.disagreement,
                   .segments = agreement.segments,
                   .dropped = agreement.dropped};

  OwnedSegments owned;
  if (end.segments > 0) owned = exchange_segments(world, records_of(run, agreement.counters), end.segments);
  const RankFigures own = run.figures();
  const std::vector<RankFigures> figures = world.gather(&own, 1);
  RunFacts facts = run.facts();
  if (!agreement.counters) facts.counter = "none";

  const auto write = [&](Writer& by) { return write_with(by, world, facts, figures, end, owned, run); };
  const Outcome<std::string> first = write(writer);
  Outcome<std::string> written = first;
  if (!first) {
    Writer second(world, second_place(path));
    written = write(second);
  }
  if (!world.is_root()) return;
  if (!written) return complain(first.failure().message);
  if (!first) {
    complain(first.failure().message + "; the profile is " + *written);
  } else if (!agreement.boundaries) {
    complain("the ranks' boundaries differ (" + agreement.disagreement + "): " + *written + " has no segments");
  } else if (*written != path) {
    complain(path + " exists; the profile is " + *written);
  }
}

}  // namespace halcyon
