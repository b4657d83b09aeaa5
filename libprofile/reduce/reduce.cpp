#include "libprofile/reduce/reduce.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "libprofile/format/schema.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/reduce/collectives.hpp"
#include "libprofile/reduce/exchange.hpp"
#include "libprofile/reduce/writer_process.hpp"

namespace halcyon {
namespace {

constexpr std::size_t segments_per_message = 65536;  // from an owner to the root: some 4 MiB

// A writer that dies must not take the application with it.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeBlocked() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec at_once{};
      sigtimedwait(&sigpipe_, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
};

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// What must be the same on all ranks before anything can be merged.
struct Agreement {
  bool boundaries = true;
  bool counters = true;
  std::string disagreement;  // at the root
};

Agreement check_agreement(const World& world, const Recorder& run) {
  const std::uint64_t count = run.segments->size() + run.segments->dropped();
  const std::vector<std::uint64_t> own{count, run.boundary_kinds_hash, run.segments->size(),
                                       hash_of(run.counter.name()), run.segments->with_injection() ? 1u : 0u};
  std::vector<std::uint64_t> least;
  std::vector<std::uint64_t> most;
  world.min_and_max(own, least, most);
  Agreement agreement;
  agreement.boundaries = least[0] == most[0] && least[1] == most[1] && least[2] == most[2] && least[4] == most[4];
  agreement.counters = least[3] == most[3];
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
    } else if (other[2] != own[2]) {
      agreement.disagreement =
          who + " could store " + std::to_string(other[2]) + " segments, rank 0 " + std::to_string(own[2]);
    } else if (other[4] != own[4]) {
      agreement.disagreement = "libintm.so is loaded into some ranks only";
    }
    if (!agreement.disagreement.empty()) break;
  }
  return agreement;
}

std::string utc(std::timespec time) {
  std::tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string clock_name(const Recorder& run, double nanoseconds_per_tick) {
  if (!run.clock.is_tsc()) return "CLOCK_MONOTONIC";
  char text[40];
  std::snprintf(text, sizeof text, "TSC %.3f GHz", 1.0 / nanoseconds_per_tick);
  return text;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  mpi.Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(std::max(length, 0)));
  return version.substr(0, version.find(','));
}

// Of the values that every rank gave `width` of, the one at `index` of each rank.
template <class T>
std::vector<T> of_each_rank(const std::vector<T>& gathered, std::size_t width, std::size_t index) {
  std::vector<T> column;
  for (std::size_t at = index; at < gathered.size(); at += width) column.push_back(gathered[at]);
  return column;
}

// The facts of the run, and each rank's own figures.
void send_facts(const World& world, const Recorder& run, const Agreement& agreement, std::size_t segments,
                double nanoseconds_per_tick, FrameWriter& frames) {
  const double run_time = static_cast<double>(run.elapsed().count) * nanoseconds_per_tick * 1e-9;
  const double mean_run_time = world.sum(run_time) / world.ranks();
  const std::vector<double> run_times = world.gather(&run_time, 1);
  const double seconds_per_tick = nanoseconds_per_tick * 1e-9;
  const std::array<double, background_names.size()> background{
      run.background_before.quantum * seconds_per_tick, run.background_before.mean * seconds_per_tick,
      run.background_after.quantum * seconds_per_tick, run.background_after.mean * seconds_per_tick};
  const std::vector<double> backgrounds = world.gather(background.data(), background.size());
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  mpi.Get_processor_name(host, &length);
  const std::vector<char> hosts = world.gather(host, sizeof host);
  std::array<std::uint64_t, feature_count> totals{};
  for (const FeatureInfo& info : features) totals[index_of(info.feature)] = run.total(info.feature);
  const std::vector<std::uint64_t> all_totals = world.gather(totals.data(), totals.size());
  const std::vector<double> all_evidence = world.gather(run.evidence.data(), run.evidence.size());
  if (!world.is_root()) return;

  frames.integer("segments", static_cast<std::int64_t>(segments));
  frames.integer("ranks", world.ranks());
  frames.text("recorder_version", HALCYON_VERSION);
  frames.text("command", run.settings.command);
  frames.text("mpi", mpi_version());
  frames.text("counter", agreement.counters ? run.counter.name() : "none");
  frames.text("compute_units", run.counter.kind() == Counter::Kind::cpu ? "ns" : "1");
  frames.text("clock", clock_name(run, nanoseconds_per_tick));
  frames.text("start_time", utc(run.start_time));
  frames.text("exit_state", "finalized");
  frames.text("disagreement", agreement.disagreement);
  frames.text("inject", run.injected_spec);
  frames.integer("dropped_segments", static_cast<std::int64_t>(run.segments->dropped()));
  frames.real("run_time_seconds", mean_run_time);
  frames.real("boundary_cost_seconds", static_cast<double>(run.boundary_cost.count) * nanoseconds_per_tick * 1e-9);
  frames.real("clock_resolution_seconds",
              static_cast<double>(run.clock_resolution.count) * nanoseconds_per_tick * 1e-9);
  std::string names;
  for (std::size_t rank = 0; rank < run_times.size(); ++rank) names += std::string(&hosts[rank * sizeof host]) + '\0';
  frames.text_column("rank_host", names);
  frames.column("rank_run_time", run_times.data(), run_times.size());
  if (run.settings.background_seconds > 0.0) {
    for (std::size_t i = 0; i < background.size(); ++i) {
      std::vector<double> column;
      for (std::size_t rank = 0; rank < run_times.size(); ++rank) {
        column.push_back(backgrounds[rank * background.size() + i]);
      }
      frames.column(background_names[i], column.data(), column.size());
    }
  }
  for (const EvidenceInfo& info : evidence_infos) {
    const std::vector<double> column = of_each_rank(all_evidence, evidence_count, index_of(info.evidence));
    frames.column(evidence_name(info), column.data(), column.size());
  }
  for (const FeatureInfo& info : features) {
    if (info.kind == FeatureKind::work) continue;
    const std::vector<std::uint64_t> column = of_each_rank(all_totals, feature_count, index_of(info.feature));
    frames.column(totals_name(info.name), column.data(), column.size());
  }
}

// The tables that are the same for all owners.
void send_bins(const OwnedSegments& owned, FrameWriter& frames) {
  std::string reduced;
  for (const FeatureInfo& info : features) {
    const OwnedFeature& column = owned.features[index_of(info.feature)];
    frames.column(bins_name(info.name), column.bins.data(), column.bins.size());
    if (column.reduced) reduced += (reduced.empty() ? "" : " ") + std::string(info.name);
  }
  frames.text("reduced_features", reduced);
  std::string sites;
  for (const std::string& site : owned.sites) sites += site + '\0';
  frames.text_column("sites", sites);
}

struct OutgoingColumn {
  std::string name;
  ElementType type;
  const std::byte* data;
};

// The columns of a share of segments, in the same order on every rank.
std::vector<OutgoingColumn> columns_of(const OwnedSegments& owned, bool with_injection) {
  std::vector<OutgoingColumn> columns;
  const auto add = [&columns](const std::string& name, const auto& values) {
    using T = typename std::remove_reference_t<decltype(values)>::value_type;
    columns.push_back({name, element_type_of<T>(), reinterpret_cast<const std::byte*>(values.data())});
  };
  add("duration", owned.duration);
  add("boundary_wait", owned.boundary_wait);
  add("calls_beyond_usual", owned.calls_beyond_usual);
  add("last_rank", owned.last_rank);
  for (std::size_t kind = 0; kind < time_kind_count; ++kind) {
    add(last_rank_time_name(time_kind_names[kind]), owned.last_rank_times[kind]);
  }
  add("last_rank_off_cpu", owned.last_rank_off_cpu);
  for (const FeatureInfo& info : features) {
    const OwnedFeature& column = owned.features[index_of(info.feature)];
    if (column.bins.size() > 1) add(std::string(info.name), column.index);
  }
  if (owned.sites.size() > 1) add("site", owned.site);
  if (with_injection) {
    add("injected_requested", owned.injected_requested);
    add("injected_actual", owned.injected_actual);
    add("injected_critical", owned.injected_critical);
  }
  return columns;
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

// What fails here is told by `halcyon run`, who waits for it.
void leave_receipt(const std::string& receipt, const std::string& path) {
  if (receipt.empty()) return;
  const int file = open(receipt.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  write_fully(file, path.data(), path.size());
  close(file);
}

}  // namespace

void reduce_and_write(Recorder& run) {
  const SigpipeBlocked no_sigpipe;
  const World world(run.rank, run.ranks);
  const double nanoseconds_per_tick = run.scale.nanoseconds_per_tick();
  const Agreement agreement = check_agreement(world, run);
  const std::size_t segments = agreement.boundaries ? run.segments->size() : 0;

  OwnedSegments owned;
  if (segments > 0) {
    run.segments->settle();
    owned = exchange_segments(world, run, nanoseconds_per_tick, agreement.counters);
  }

  WriterProcess writer;
  std::string error;
  const std::string path = expand_output(run.settings.output, run.ranks, run.start_time.tv_sec);
  const bool started = world.is_root() && writer.start(path, error);
  FrameWriter frames(writer.input());
  send_facts(world, run, agreement, segments, nanoseconds_per_tick, frames);
  if (segments > 0) {
    if (world.is_root()) send_bins(owned, frames);
    send_segments(world, segments, owned, run.segments->with_injection(), frames);
  }
  if (!world.is_root()) return;
  if (!started) return complain(error);
  frames.end();
  const Outcome<std::string> written = writer.finish();
  if (!written) return complain(written.failure().message);
  leave_receipt(run.settings.receipt, *written);
  if (!agreement.boundaries) {
    complain("the ranks' boundaries differ (" + agreement.disagreement + "): " + *written + " has no segments");
  } else if (*written != path) {
    complain(path + " exists; the profile is " + *written);
  }
}

}  // namespace halcyon
