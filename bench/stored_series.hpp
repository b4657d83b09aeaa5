// Series of profiles on disk, judged as `halcyon repeat` judges them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/repeat/series_run.hpp"

namespace halcyon {

/// The profiles run-*.h5 of a directory, by name.
std::vector<std::string> profiles_in(const std::string& directory);

/// What the runs of a series know of each other: nothing, as with `--versus`, or all of them of all.
enum class Knowledge : std::uint8_t { none, of_all };

/// Judges the runs of one program. A profile that cannot be read is left out, and said.
std::vector<RepeatedRun> judged_runs(std::span<const std::string> files, Knowledge knowledge);

}  // namespace halcyon
