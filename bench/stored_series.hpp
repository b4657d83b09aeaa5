// Series of profiles on disk, judged as `halcyon repeat` judges them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/repeat/series_run.hpp"

namespace halcyon {

/// The profiles run-*.h5 of a directory, by name.
std::vector<std::string> profiles_in(const std::string& directory);

/// Judges the runs of one program; all of them know each other. A profile that cannot be read is left out, and said.
std::vector<RepeatedRun> judged_runs(std::span<const std::string> files);

}  // namespace halcyon
