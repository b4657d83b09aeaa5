// What a reader is told of a series of runs (`halcyon repeat`), in words and tables.
#pragma once

#include <optional>
#include <vector>

#include "report/series/repetition.hpp"
#include "report/series/result.hpp"

namespace halcyon {

struct RepetitionResult {
  SeriesAnswer answer;
  std::vector<SeriesFact> programs;    // their letters, or "program", and their commands
  std::optional<SeriesTable> ranking;  // of more than two programs
  std::vector<SeriesFact> facts;
  std::vector<SeriesTable> means;  // of each program; none with varied work
  SeriesTable runs;
};

RepetitionResult result_of(const Repetition& series);

}  // namespace halcyon
