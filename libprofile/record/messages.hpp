// What the recorder tells the user. A rank prints at most two lines, so that the program's own output stays readable:
// one warning, and the outcome.
#pragma once

#include <string_view>

namespace halcyon {

/// Prints a line about something that goes wrong while the run is recorded, unless there was one before.
/// Async-signal-safe.
void warn(std::string_view message) noexcept;

/// Prints the outcome: where the profile is, or that there is none and why. The first one counts. A warning never takes
/// its place. Async-signal-safe.
void tell_outcome(std::string_view message) noexcept;
/// The same, with a reason after it. Needs no memory, which may be the reason.
void tell_outcome(std::string_view message, std::string_view why) noexcept;

/// From now on nothing of this is printed: the user has not asked for a record, and does not know of it.
void keep_quiet() noexcept;
/// The one line that such a run may print: why the ledger of the site lacks it, or its end.
void tell_missing_in_ledger(std::string_view why, bool has_beginning = false) noexcept;

/// Calls that need memory that the recorder cannot have go on, and are not counted.
inline void tell_memory_has_run_out() noexcept {
  warn("memory has run out: some requests of the program are not counted");
}

}  // namespace halcyon
