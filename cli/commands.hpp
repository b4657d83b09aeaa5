// The subcommands, and their common functions outside the subdirectories.
#pragma once

#include <optional>
#include <string>

#include "cli/console/command.hpp"
#include "cli/console/common_options.hpp"
#include "cli/console/output.hpp"
#include "libprofile/recover/recover.hpp"

namespace halcyon::cli {

/// Why the text is not a disturber with a schedule; empty if it is.
std::string objection_to_disturber(const std::string& text);
/// Why the text of --for is no length of time; empty if it is.
std::string objection_to_length(const std::string& text);
/// Explains KIND:WHEN in the help of `disturb` and `validate`.
extern const char* const disturber_help;

/// The line that `recover` and `run` print for a recovered profile.
std::string recovered_line(const Recovered& recovered);
/// Recovers the one run whose parts are in the directory, and where else a rank may have left some: `output` is where
/// the profile should be. Removes the parts when it is written. They stay if some are damaged, or if ranks are missing
/// whose parts may be on other hosts. Nothing if recovering fails: `halcyon recover` then gives the reason to the user.
std::optional<Recovered> recover_run(const std::string& directory, const std::string& output, bool has_other_hosts);

/// Each adds its subcommand.
void add_run(const Command& program);
void add_repeat(const Command& program);
void add_exec(const Command& program);
void add_validate(const Command& program);
void add_doctor(const Command& program);
void add_disturb(const Command& program);
void add_witness(const Command& program);
void add_report(const Command& program);
void add_info(const Command& program);
void add_compare(const Command& program);
void add_compose(const Command& program);
void add_recover(const Command& program);
void add_export(const Command& program);
void add_baselines(const Command& program);
void add_search(const Command& program);
void add_regulate(const Command& program);
void add_map(const Command& program);
void add_watch(const Command& program);

}  // namespace halcyon::cli
