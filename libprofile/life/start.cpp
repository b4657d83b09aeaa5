#include "libprofile/life/start.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>

#include "libprofile/interpose/next.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/life/exits.hpp"
#include "libprofile/life/signals.hpp"
#include "libprofile/record/admission.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/record/settings.hpp"
#include "libprofile/reduce/mpi_exchange.hpp"
#include "libprofile/system/environment.hpp"
#include "libprofile/system/launcher.hpp"
#include "libprofile/system/own_descriptor.hpp"

namespace halcyon {
namespace {

std::vector<int> all_threads() {
  std::vector<int> ids;
  if (DIR* directory = opendir("/proc/self/task"); directory != nullptr) {
    while (const dirent* entry = readdir(directory)) {
      if (const int id = std::atoi(entry->d_name); id > 0) ids.push_back(id);
    }
    closedir(directory);
  }
  return ids;
}

// If only one of several programs in a job were preloaded, its ranks would wait for the others for ever.
bool all_ranks_surely_record() {
  const char* programs = launcher::programs();
  return programs == nullptr || std::atoi(programs) <= 1 || setting("HALCYON_ALL_RANKS") != nullptr;
}

// With several programs in a job, rank 0 may belong to a program that does not record. So the first rank of this
// program prints the message.
bool is_first_of_program(int rank) {
  const char* sizes = launcher::ranks_of_programs();
  long first = 0;
  for (char* rest = nullptr; sizes != nullptr && *sizes != '\0'; sizes = rest) {
    if (first == rank) return true;
    first += std::strtol(sizes, &rest, 10);
    if (rest == sizes) break;
  }
  return rank == 0;
}

// The first rank decides for all: a file may be seen on one host earlier than on another.
bool is_to_be_recorded(ThisRun& run) {
  Settings& settings = run.settings;
  if (settings.ledger.empty()) return settings.keeps_profile;
  // Of the process that touches the spool for the ranks of a host. Empty: the run is not admitted.
  std::vector<std::byte> told;
  if (run.rank == 0) {
    const std::string chosen = name_of_new_keeper();
    const Admission admission = ask_for_admission_in_time(settings, settings.keeps_profile ? "" : chosen, run.keeper);
    if (!admission.why_not.empty()) tell_missing_in_ledger(admission.why_not);
    const auto* const name = reinterpret_cast<const std::byte*>(chosen.data());
    if (admission.is_admitted) told.assign(name, name + chosen.size());
  }
  MpiExchange(run.rank, run.ranks, run.recorders_comm).broadcast(told);
  if (told.empty()) settings.ledger.clear();
  if (settings.keeps_profile || told.empty()) return settings.keeps_profile;
  settings.keeper.assign(reinterpret_cast<const char*>(told.data()), told.size());
  if (run.rank != 0 && launcher::is_spokesman_of_host()) run.keeper = start_keeper(settings.keeper);
  return true;
}

// In the calling thread, which has just joined the world of this run.
void begin(bool is_spawned) {
  ThisRun& run = recorder->run;
  if (!all_ranks_surely_record()) {
    if (is_first_of_program(run.rank)) {
      tell_outcome(
          "this job consists of several programs; nothing is recorded, since libhalcyon.so may be missing in some "
          "(start the job with `halcyon run`, or preload it into all programs and set HALCYON_ALL_RANKS=1)");
    }
    return;
  }
  if (!run.join_others()) return tell_outcome("nothing is recorded: MPI_Comm_dup failed in MPI_Init");
  std::string complaint;
  run.settings = settings_from_environment(complaint);
  if (is_spawned) set_apart_from_parent(run.settings);
  if (!run.settings.keeps_profile) keep_quiet();
  if (!is_to_be_recorded(run)) return run.leave_others();
  recorder->records.open_receipt(run.settings);
  recorder->boundaries.choose(run.settings.boundary, run.settings.boundary_ranks);
  recorder->meters.start(run.settings.counter, complaint);
  recorder->python.find();
  if (!complaint.empty() && run.rank == 0) warn(complaint);
  recorder->begin();
  catch_signals();
  watch_exits();
}

// A program of sessions may go on after the last one: with MPI_Init, or with a new session.
void say_that_the_record_has_ended() {
  const Recorder& run = *recorder;
  if (run.gate.has_unsaved() || run.run.rank != 0 || !is_the_recorded_process()) return;
  static std::atomic<bool> is_said{false};
  if (is_said.exchange(true)) return;
  warn("the record ended with the last MPI session, and the profile is written: what follows is not recorded");
}

void tell_nothing_is_recorded(const std::exception& error) { tell_outcome("nothing is recorded", error.what()); }

}  // namespace

StartingRun::StartingRun() noexcept try {
  // Constructed before MPI_Init, so that the clock's rate is measured over a long enough time when it is first needed.
  // Several threads may open MPI sessions at once.
  [[maybe_unused]] static const bool is_made = (recorder = new Recorder) != nullptr;
  threads_before_ = all_threads();
  make_room_for_descriptors();
} catch (const std::exception& error) {
  tell_nothing_is_recorded(error);
}

bool StartingRun::finds_mpi() const {
  static const bool is_found = looks_for_mpi();
  return is_found;
}

bool StartingRun::looks_for_mpi() const {
  std::vector<int> started = all_threads();
  std::erase_if(started, [this](int id) {
    return std::find(threads_before_.begin(), threads_before_.end(), id) != threads_before_.end();
  });
  recorder->threads.set_apart(std::move(started));
  const std::string why_not = mpi.load(own_tool);
  if (!launcher::is_spokesman()) return why_not.empty();
  if (!why_not.empty()) {
    tell_outcome("nothing is recorded: " + why_not);
    return false;
  }
  if (const std::string what = newer_mpi_than_known(own_tool); !what.empty()) warn(what);
  return true;
}

void StartingRun::started() const noexcept try {
  // Another tool's MPI_Init has called ours again, or a session has begun the run.
  if (recorder == nullptr) return;
  if (recorder->gate.has_begun()) {
    if (recording.load()) catch_signals();
    return say_that_the_record_has_ended();
  }
  const NotRecorded guard;
  if (finds_mpi()) begin(recorder->run.find_place_in_world());
} catch (const std::exception& error) {
  tell_nothing_is_recorded(error);
}

bool StartingRun::session_opened() const noexcept try {
  if (recorder == nullptr) return false;
  if (recorder->gate.has_begun()) {
    say_that_the_record_has_ended();
    return false;
  }
  const NotRecorded guard;
  return finds_mpi();
} catch (const std::exception& error) {
  tell_nothing_is_recorded(error);
  return false;
}

void start_within_sessions() noexcept try {
  const NotRecorded guard;
  recorder->run.find_place_within_sessions();
  begin(false);
} catch (const std::exception& error) {
  tell_nothing_is_recorded(error);
}

}  // namespace halcyon
