#include "libprofile/life/exit_gate.hpp"

#include <unistd.h>

#include <string>

#include "libprofile/life/sessions.hpp"
#include "libprofile/record/messages.hpp"
#include "libprofile/record/recorder.hpp"
#include "libprofile/system/launcher.hpp"

namespace halcyon {
bool is_the_recorded_process() { return recorder != nullptr && getpid() == recorder->run.process; }
bool has_to_keep() { return is_the_recorded_process() && recorder->gate.has_unsaved(); }

void leave(PartEnd end, LastLook look) {
  recorder->gate.leave([=] {
    if (look == LastLook::taken) recorder->surroundings.look();
    recorder->live.leave();
    if (!recorder->spill(end)) return;
    if (const std::string& line = recorder->records.last_line(); !line.empty()) tell_outcome(line);
  });
}

namespace {

// Runs at exit. Prints a line only if this process should have a profile, and has not reached MPI_Finalize.
[[gnu::destructor]] void report_missing_finalize() {
  if (const char* why = why_sessions_have_no_profile(); *why != '\0' && launcher::is_spokesman()) tell_outcome(why);
  if (!has_to_keep()) return;
  const NotRecorded guard;
  leave(part_has_exited, LastLook::taken);
  if (recorder->run.rank == 0 && !recorder->records.is_spilled()) {
    tell_outcome("the program ended without MPI_Finalize: no profile is written (" + recorder->run.settings.command +
                 ")");
  }
}

}  // namespace
}  // namespace halcyon
