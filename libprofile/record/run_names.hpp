// What a run is called, and what its launcher says of it: program, job, output, number.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace halcyon {

/// The output path of a run: {app}, {np}, {jobid} and {timestamp} replaced.
std::string expand_output(const std::string& pattern, int ranks, const std::string& timestamp);
/// Local time, in the form used in file names.
std::string timestamp_of(std::time_t time);

/// The name of the program, or of the script that Python runs.
std::string own_program();
/// The program's own command line; `unknown` if it cannot be read.
std::string own_command();

/// What the user knows the job by; empty without a batch system or a launcher that names it.
std::string job_name();

/// A number that is the same on all ranks of a run, and almost surely different in other runs. It comes from the
/// launcher's environment, or else from the launcher's process id. The ranks cannot agree on one by messages: a rank
/// that is not recorded could receive them.
std::uint64_t run_number();
/// The same as a text for names of files.
std::string name_of_run();

}  // namespace halcyon
