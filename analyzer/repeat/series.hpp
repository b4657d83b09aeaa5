// The result of a series of runs of one program: three means, their contradictions and caveats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/repeat/mean_time.hpp"
#include "analyzer/repeat/series_run.hpp"

namespace halcyon {

struct SeriesRequest {
  Precision precision;
  std::optional<std::size_t> warm_up_runs = 0;  // none: those that differ from the rest (`auto`)
};

/// How the undisturbed mean contradicts the other means.
enum class ContradictionCode : std::uint8_t {
  above_quiet,            // it is above the mean of the quiet runs: interference cannot be negative
  above_measured,         // it is above the mean of the measured times
  disturbed_runs_higher,  // the undisturbed times of red runs are above those of the quiet runs: too little was removed
  disturbed_runs_lower,   // they are below: too much was removed
};
constexpr std::string_view name_of(ContradictionCode code) {
  switch (code) {
    case ContradictionCode::above_quiet: return "above-quiet";
    case ContradictionCode::above_measured: return "above-measured";
    case ContradictionCode::disturbed_runs_higher: return "disturbed-runs-higher";
    case ContradictionCode::disturbed_runs_lower: return "disturbed-runs-lower";
  }
  return "";
}
struct Contradiction {
  ContradictionCode code = ContradictionCode::above_quiet;
  double difference_percent = 0.0;  // from the mean it is compared with, in percent of that
  Interval interval_percent;        // of it: 99 % between red and quiet runs, else from both means' intervals
};

/// Why the interval of the undisturbed mean may be wrong.
enum class CaveatCode : std::uint8_t {
  correlated,     // runs depend on those before them; the interval was widened for it
  drift,          // the undisturbed times rise or fall along the series; the mean is that of the runs made
  few_runs,       // no correlation between them is seen, but they are too few to see most
  all_disturbed,  // no run was green or yellow: the mean depends only on estimates
};
constexpr std::string_view name_of(CaveatCode code) {
  switch (code) {
    case CaveatCode::correlated: return "correlated";
    case CaveatCode::drift: return "drift";
    case CaveatCode::few_runs: return "few-runs";
    case CaveatCode::all_disturbed: return "all-disturbed";
  }
  return "";
}
struct Caveat {
  CaveatCode code = CaveatCode::correlated;
  double value = 0.0;  // correlated: lag-1 coefficient; drift: percent from the first run to the last; else runs
};

struct SeriesSummary {
  std::vector<std::optional<Unused>> unused;  // (runs) none: it counts
  std::size_t warm_up_runs = 0;
  std::size_t hosts = 0;  // seen by all runs
  MeanTime measured;      // all runs that count, as measured
  MeanTime quiet;         // of them, the green and yellow ones, as measured
  MeanTime undisturbed;   // each weighted by its own interval: the default answer
  std::optional<Contradiction> contradiction;
  std::vector<Caveat> caveats;
};

/// `runs` are in the order in which they were made.
SeriesSummary summarise(std::span<const RepeatedRun> runs, const SeriesRequest& request);

}  // namespace halcyon
