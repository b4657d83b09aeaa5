// The recorder's settings: HALCYON_* variables, each with the name of the `halcyon run` option it stands for.
#pragma once

#include <string>

#include "libprofile/record/recorder.hpp"

namespace halcyon {

/// A relative output is made absolute. A value that cannot be read leaves its default, and a sentence in `complaint`.
Settings settings_from_environment(std::string& complaint);

/// The output path of a run: {app}, {np}, {jobid} and {timestamp} replaced.
std::string expand_output(const std::string& pattern, int ranks, std::time_t started);

}  // namespace halcyon
