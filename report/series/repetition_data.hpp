// A series of runs of one program (`halcyon repeat`) for other programs: as JSON and as CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/series/repetition.hpp"

namespace halcyon {

nlohmann::ordered_json repetition_json(const Repetition& series);
/// A row for each run.
std::string repetition_csv(const Repetition& series);

}  // namespace halcyon
