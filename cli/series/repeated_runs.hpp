// The runs of `halcyon repeat`: made, judged with each other as known runs, and evaluated together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kept/judged_file.hpp"
#include "cli/launch/run_series.hpp"
#include "cli/series/repeat_request.hpp"
#include "report/series/repetition.hpp"

namespace halcyon::cli {

struct RepeatedRuns {
  RunSeries series;
  SignalRelay signals;  // also while runs are evaluated, so that results are written before this process ends
  Repetition repetition;
  std::optional<KnownBefore> known;
  std::vector<std::string> complaints;  // about the records of earlier runs
  std::size_t judged_together = 0;      // number of runs when all were last judged together
};

/// Whether a file of that name in the directory of a series belongs to one of its runs.
bool names_a_run(std::string_view file);

/// Takes over the runs of a resumed series. A failure if they are not those of the request.
Status take_over_runs(const RepeatRequest& request, RepeatedRuns& runs);

/// Makes runs until the series ends, and evaluates them. A failure ends it early; the runs until then are also
/// evaluated.
Status make_runs(const RepeatRequest& request, RepeatedRuns& runs);

}  // namespace halcyon::cli
