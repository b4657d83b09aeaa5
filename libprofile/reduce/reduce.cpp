#include "libprofile/reduce/reduce.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/format/packer.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/interpose/past_wrappers.hpp"
#include "libprofile/interpose/signal_blocked.hpp"
#include "libprofile/merge/merged_run.hpp"
#include "libprofile/record/admission.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/record/run_names.hpp"
#include "libprofile/reduce/agreed_steps.hpp"
#include "libprofile/reduce/mpi_exchange.hpp"
#include "libprofile/reduce/writer_process.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/cannot_write.hpp"
#include "libprofile/system/fnv1a.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "libprofile/system/own_descriptor.hpp"
#include "libprofile/system/process_memory.hpp"

namespace halcyon {
namespace {

// Number of segments that can be merged; 0 if spilled ones cannot be read back. Does not throw, since the other ranks
// wait for this number.
std::uint64_t settled_segments(Recorder& run) try {
  const Change change(run.gate, current_thread());
  SegmentStore& segments = run.records.segments();
  segments.settle();
  return segments.size();
} catch (const std::exception& error) {
  warn(error.what());
  return 0;
}

// Asked of the kernel before the ranks begin to merge: if the memory of one ran out then, the others would wait for it.
bool has_room_to_merge(Recorder& run) {
  const std::size_t segments = std::max(run.records.segments().size(), run.steps.rows() + 1);
  const std::size_t bytes = memory_to_merge(segments, run.run.ranks);
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

// Says that calls are missing, if so. That some bypassed the recorder, all ranks see alike.
std::string missing_calls(const Recorder& run) {
  const std::string module = run.run.rank == 0 ? module_past_wrappers() : "";
  std::string missing;
  if (!module.empty()) {
    missing = "calls of MPI by " + module + " are missing: they bypassed the recorder";
  } else if (run.threads.has_given_up_calls()) {
    missing =
        "some calls are missing: the program left a call of MPI without returning from it, or its signal handlers made "
        "many calls inside one";
  }
  if (!missing.empty()) warn(missing);
  return missing;
}

// Steps take the place of too few segments.
RankRecording recording_of(Recorder& run, const AgreedSteps* steps) {
  if (steps != nullptr) {
    RankFigures figures = run.figures();
    figures.boundary_cost = run.meters.seconds_of(static_cast<double>(run.steps.cost().count));
    return {.store = steps->segments.get(),
            .segments = steps->segments->size(),
            .sites = steps->sites.texts(),
            .modules = steps->sites.modules(),
            .boundary_kinds = 0,  // as many steps on each rank, and nothing else
            .facts = run.run.facts(run.meters.counter),
            .figures = figures,
            .incomplete = missing_calls(run)};
  }
  const std::uint64_t segments = settled_segments(run);
  return {.store = &run.records.segments(),
          .segments = segments,
          .sites = run.records.sites().texts(),
          .modules = run.records.sites().modules(),
          .boundary_kinds = run.boundaries.hash_of_kinds(),
          .facts = run.run.facts(run.meters.counter),
          .figures = run.figures(),
          .incomplete = missing_calls(run)};
}

// Whether the ranks still may do with each other what their MPI library found at MPI_Init that they may. Each asks
// about the ranks with which it merges. Collective, by short messages.
bool may_still_read_memory(const Recorder& run, const MpiExchange& exchange) {
  const ThisRun& who = run.run;
  // A filter may end the process for the question alone.
  bool may_read =
      system_call_filters() == who.system_call_filters && (!who.reads_memory || may_read_memory_of(getpid()));
  const std::uint64_t host = fnv1a(run.surroundings.host());
  for (int step = 1; step < who.ranks; step *= 2) {
    const int other = who.rank ^ step;
    if (other >= who.ranks) continue;
    Packer packer;
    packer.put(host);
    packer.put(static_cast<std::uint64_t>(getpid()));
    const bool is_first = who.rank < other;
    if (is_first) exchange.send(other, packer.take());
    const std::vector<std::byte> received = exchange.receive(other);
    if (!is_first) exchange.send(other, packer.take());
    Unpacker unpacker(received);
    const bool is_here = unpacker.get<std::uint64_t>() == host;
    const auto process = static_cast<pid_t>(unpacker.get<std::uint64_t>());
    if (may_read && who.reads_memory && is_here) may_read = may_read_memory_of(process) || !is_there(process);
  }
  return may_read;
}

// Prints one line if merging takes long, where the user knows of it: users soon kill a program that does not end.
MergeProgress progress_on_standard_error(bool speaks) {
  return [began = nanoseconds_of(CLOCK_MONOTONIC), speaks](std::size_t done, std::size_t all) mutable {
    constexpr std::uint64_t patience = 2'000'000'000;
    if (!speaks || nanoseconds_of(CLOCK_MONOTONIC) - began < patience) return;
    speaks = false;
    const std::string line = "halcyon: the program has ended; merging what its ranks recorded takes a while (" +
                             std::to_string(100 * done / all) + " % after 2 s)\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  };
}

// Gives the root's value to every rank.
bool broadcast(const Exchange& exchange, bool is_good) {
  std::vector<std::byte> answer{static_cast<std::byte>(is_good)};
  exchange.broadcast(answer);
  return answer.front() != std::byte{0};
}

// Where the frames go, at the root only: to a process that writes the profile; or, if only a ledger wants them, into
// memory, and then to the process that touches its spool.
class Writer {
 public:
  Writer(const Exchange& exchange, const std::string& path, Recorder& run)
      : run_(run), path_(path), keeps_profile_(run.run.settings.keeps_profile) {
    if (!exchange.is_root()) return;
    if (keeps_profile_) {
      is_started_ = process_.start(path, run.run.settings.ledger, error_);
    } else {
      frames_ = file_in_memory();
      is_started_ = static_cast<bool>(frames_);
      if (!is_started_) error_ = std::strerror(errno);
    }
  }

  int input() const { return keeps_profile_ ? process_.input() : frames_.number(); }
  /// The file name that the profile got, or would have. `is_whole`: it has got the last frame.
  Outcome<std::string> finish(bool is_whole) {
    if (!is_started_) return Failure{error_};
    if (keeps_profile_) return process_.finish();
    return is_whole ? save() : Failure{"the profile's data ended early"};
  }

 private:
  Outcome<std::string> save() {
    int failed = run_.records.save_frames(path_, frames_.number());
    if (failed == EPIPE && start_another_keeper()) failed = run_.records.save_frames(path_, frames_.number());
    return failed == 0 ? Outcome<std::string>(path_) : cannot_write(path_, failed);
  }

  // Somebody has ended the one that there was.
  bool start_another_keeper() {
    const std::string name = name_of_new_keeper();
    if (!ask_for_admission_in_time(run_.run.settings, name, run_.run.keeper).is_admitted) return false;
    run_.records.leave_to(name);
    return true;
  }

  Recorder& run_;
  std::string path_;
  bool keeps_profile_;
  WriterProcess process_;
  OwnDescriptor frames_;
  std::string error_;
  bool is_started_ = false;
};

struct Written {
  std::string path;
  bool is_told = true;  // to `halcyon run`, if it started the run
};

// Writes the profile of the run into one file, together with all ranks, and then marks the records as saved. Returns
// the file's name at the root.
Outcome<Written> write_and_save(Writer& writer, const Exchange& exchange, const MergedRun& merged, Recorder& run) {
  FrameWriter frames(writer.input());
  send_merged_run(exchange, merged, frames);
  if (!exchange.is_root()) {
    if (!broadcast(exchange, false)) return Failure{"the root cannot write it"};
    const Change change(run.gate, current_thread());
    run.gate.note_saved();
    run.records.remove_part();
    return Written{};
  }
  // Once frames.end() is sent, the profile will exist. The change postpones signals until it does, and the other ranks
  // and the receipt say so. If a signal came before, the parts were saved, and there must be no profile.
  const Change change(run.gate, current_thread());
  const bool has_unsaved = run.gate.has_unsaved();
  if (has_unsaved) frames.end();
  const Outcome<std::string> path = writer.finish(has_unsaved && frames.ok());
  Written written;
  if (path) {
    run.gate.note_saved();
    run.records.remove_parts_of_all_ranks();
    written = {.path = *path, .is_told = run.records.tell(Left::profile, path->c_str())};
  }
  broadcast(exchange, static_cast<bool>(path));
  return path ? Outcome<Written>(written) : path.failure();
}

// Of this rank's records, in its part. Some are, if they were written before its disk was full.
struct Kept {
  bool some = true;
  bool all = true;
};

Kept keep_part(Recorder& run) {
  const Change change(run.gate, current_thread());
  if (!run.gate.has_unsaved()) return {};  // a signal has
  const bool was_spilled = run.records.is_spilled();
  const bool all = run.spill(part_has_finalized);
  return {.some = all || was_spilled, .all = all};
}

// No profile could be written, and rank 0 knows why. `halcyon run` makes one of the parts, and the user can do it on
// another host, or where there is more room.
void keep_parts(Recorder& run, const Exchange& exchange, const std::string& why_no_profile) {
  const Kept kept = keep_part(run);
  run.gate.note_saved();
  const bool is_any_kept = exchange.least({kept.some ? 0u : 1u}).front() == 0;
  if (!run.run.settings.keeps_profile && exchange.is_root() && !kept.all) {
    tell_missing_in_ledger(why_no_profile + "; " + run.records.spill_failure(), kept.some);
  }
  const std::string& unseen = run.records.last_line();
  const bool is_launched = !run.run.settings.receipts.empty();
  if (exchange.is_root()) {
    const std::string& parts = run.records.directory_of_parts();
    const std::string where = !kept.some     ? "what the ranks recorded is lost: " + run.records.spill_failure()
                              : !is_launched ? "to make a profile of what the ranks recorded: halcyon recover " + parts
                              : unseen.empty() ? "what the ranks recorded is in " + parts
                                               : unseen;
    tell_outcome(why_no_profile + "; " + where);
  } else if (kept.some && is_launched && !unseen.empty()) {
    tell_outcome(unseen);
  }
  if (!is_any_kept) run.records.remove_part();
}

}  // namespace

void reduce_and_write(Recorder& run, bool has_records) {
  const SignalBlocked no_sigpipe(SIGPIPE);  // if the writer dies, the application must not
  const ThisRun& who = run.run;
  const MpiExchange exchange(who.rank, who.ranks, who.recorders_comm);
  const bool has_room = has_room_to_merge(run);
  if (!has_room) keep_part(run);  // first of all, since MPI may need memory, too, and end the program for want of it
  const bool can_merge = may_still_read_memory(run, exchange);
  const std::vector<std::uint64_t> least =
      exchange.least({has_records ? 1u : 0u, has_room ? 1u : 0u, can_merge ? 1u : 0u, has_steps(run) ? 1u : 0u});
  if (least[0] == 0) {
    return keep_parts(run, exchange, "no profile is written: a rank was about to end before it called MPI_Finalize");
  }
  if (least[1] == 0) {
    return keep_parts(run, exchange, "no profile is written: a rank has too little memory left for it");
  }
  // For long messages, MPI would end the program.
  if (least[2] == 0) {
    return keep_parts(run, exchange, "no profile is written: the ranks may no longer read each other's memory");
  }
  const std::string path = expand_output(who.settings.output, who.ranks, timestamp_of(who.start_time.tv_sec));
  Writer writer(exchange, path, run);  // before merging, so that it loads HDF5 meanwhile
  const std::unique_ptr<AgreedSteps> steps = least[3] == 1 ? agree_on_steps(exchange, run) : nullptr;
  const MergedRun merged =
      merge_run(exchange, recording_of(run, steps.get()), progress_on_standard_error(who.settings.keeps_profile));

  const Outcome<Written> first = write_and_save(writer, exchange, merged, run);
  Outcome<Written> written = first;
  if (!first && who.settings.keeps_profile) {
    Writer second(exchange, second_place(path), run);
    written = write_and_save(second, exchange, merged, run);
  }
  if (!written) return keep_parts(run, exchange, first.failure().message);
  if (!exchange.is_root()) return;
  const std::string why = first ? "" : first.failure().message + "; ";
  if (!written->is_told) {
    tell_outcome(why + "the profile is " + written->path + " on " + run.surroundings.host() +
                 ", which `halcyon run` does not see");
  } else if (!first) {
    tell_outcome(why + "the profile is " + written->path);
  } else if (!merged.profile.disagreement.empty()) {
    tell_outcome("the ranks' boundaries differ (" + merged.profile.disagreement + "): " + written->path +
                 " has no segments");
  } else if (written->path != path) {
    tell_outcome(path + " exists; the profile is " + written->path);
  }
}

}  // namespace halcyon
