#include "libprofile/life/exit_gate.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "libprofile/interpose/looked_up.hpp"
#include "libprofile/interpose/mpi_runtime.hpp"
#include "libprofile/interpose/next.hpp"
#include "libprofile/interpose/past_wrappers.hpp"
#include "libprofile/life/sessions.hpp"
#include "libprofile/life/start.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/system/launcher.hpp"

namespace halcyon {
namespace {

bool spill(PartEnd end) {
  recorder->spares.release();
  recorder->surroundings.look();
  return recorder->spill(end);
}

void tell_outcome_without_finalize() {
  if (const std::string_view line = recorder->records.outcome_without_finalize(); !line.empty()) tell_outcome(line);
}

bool is_within_a_call() { return this_thread != nullptr && this_thread->outermost.is_within_call(); }

}  // namespace

bool is_the_recorded_process() { return recorder != nullptr && getpid() == recorder->run.process; }
bool has_to_keep() { return is_the_recorded_process() && recorder->gate.has_unsaved(); }

// Other threads that are about to end the process wait for all of this, and signals, too.
void leave(PartEnd end) {
  const OwnFloatingPoint floating_point;
  const auto announce = [] {
    recorder->live.note_end();
    tell_outcome_without_finalize();
    recorder->live.have_others_save();
  };
  const bool had_turn = recorder->gate.leave([&] {
    spill(end);
    announce();
  });
  if (!had_turn) announce();
  recorder->live.leave();
}

void leave_by_exit() { leave(is_within_a_call() ? part_was_aborted : part_has_exited); }

void save(PartEnd end) {
  const OwnFloatingPoint floating_point;
  recorder->gate.save([end] {
    spill(end);
    recorder->spares.reserve();
  });
}

void save_with_others(PartEnd end) {
  save(end);
  recorder->live.have_others_save();
}

void leave_to_another_program() {
  save(part_has_exited);
  tell_outcome_without_finalize();
  recorder->live.have_others_save();
}

// PMI, by which most launchers of MPICH's kind talk to their ranks, has text: "cmd=abort ...", since PMI 2 with the
// length before it in six digits.
void note_inner_write(const void* data, std::size_t bytes) {
  if (!is_within_a_call()) return;  // a program may ask the kernel in this way which memory can be read
  constexpr char abort[] = "cmd=abort";
  constexpr std::size_t length = sizeof abort - 1;
  constexpr std::size_t digits = 6;
  const auto* text = static_cast<const char*>(data);
  const bool is_abort = (bytes > length && std::memcmp(text, abort, length) == 0) ||
                        (bytes > digits + length && std::memcmp(text + digits, abort, length) == 0);
  if (is_abort && has_to_keep()) leave(part_was_aborted);
}

namespace {

pid_t process_of_load = 0;  // not that of its forked children

// MPI's own answer, also after MPI_Finalize; false without MPI.
bool answer_of_mpi(const char* function) {
  const auto ask = reinterpret_cast<int (*)(int*)>(find_in_mpi(function));
  int answer = 0;
  return ask != nullptr && ask(&answer) == MPI_SUCCESS && answer != 0;
}

std::string who_bypasses() {
  const std::string module = module_past_wrappers();
  if (!module.empty()) return "calls of " + module + " bypass it";
  return answers_lookups() ? "the program's calls bypass it" : "calls that are looked up with dlsym bypass it";
}

// Of a process that has not called MPI_Init through the wrappers.
void report_missing_init() {
  if (getpid() != process_of_load || !launcher::is_spokesman() || !answer_of_mpi("PMPI_Initialized")) return;
  const std::string other = other_mpi_than_own(own_tool);
  tell_outcome(
      "nothing is recorded: " +
      (other.empty() ? "MPI was used, and MPI_Init did not come through the recorder: " + who_bypasses() : other));
}

// Prints a line only if this process should have a profile, and has not reached MPI_Finalize.
void report_missing_finalize() noexcept try {
  if (recorder == nullptr) return report_missing_init();
  if (const char* why = why_sessions_have_no_profile(); *why != '\0' && launcher::is_spokesman()) tell_outcome(why);
  if (!has_to_keep()) return;
  if (recorder->run.rank == 0 && answer_of_mpi("PMPI_Finalized")) {
    warn("MPI_Finalize did not come through the recorder: " + who_bypasses());
  }
  leave_by_exit();
} catch (const std::exception&) {  // memory has run out, and the program is about to end
}

// What is registered before `main` runs after the destructors of all libraries: one of them may call MPI_Finalize.
[[gnu::constructor]] void begin_process() {
  process_of_load = getpid();
  if (is_for_the_ledger_alone()) keep_quiet();
  on_exit([](int, void*) { report_missing_finalize(); }, nullptr);
}

}  // namespace
}  // namespace halcyon
