#include "report/remedies.hpp"

#include <algorithm>
#include <array>

namespace halcyon {
namespace {

// The first sentence of what to do without a verdict is for a line that has little room.
constexpr std::array<WarningInfo, warning_codes.size()> infos{{
    {"boundary-disagreement", Severity::no_verdict,
     "Set --boundary-ranks. If the program splits its ranks into parts that synchronise separately, choose a number of "
     "ranks that only the whole program's synchronisation reaches."},
    {"no-boundaries", Severity::no_verdict,
     "Mark its steps with MPI_Pcontrol(1) on all ranks. In Python, that is MPI.Pcontrol(1) of mpi4py. If the program "
     "synchronises over fewer ranks than all, set --boundary-ranks instead."},
    {"no-segments", Severity::no_verdict, "Measure again, and save more often with --spill."},
    {"low-coverage", Severity::no_verdict,
     "Run longer, so that more of the run repeats. Of what is done once, only time on a CPU is known not to be lost."},
    {"too-few-segments", Severity::no_verdict, "Run longer, with more iterations, so that more segments repeat."},
    {"wide-interval", Severity::no_verdict,
     "Repeat it until its time is known. halcyon repeat does that and says when; on an idle machine it takes fewer "
     "runs. "
     "halcyon compare also shows delays that hit every segment."},
    {"too-short", Severity::no_verdict, "Run longer, with more iterations."},
    {"composed", Severity::no_verdict,
     "Compare other runs with it. halcyon compare does; do not quote its times as those of one run."},
    {"incomplete-run", Severity::limits,
     "The verdict covers only the part that was recorded. Save more often with --spill."},
    {"bypassed-calls", Severity::limits,
     "Open plugins without RTLD_DEEPBIND and dlmopen, so that their calls of MPI are recorded."},
    {"segments-dropped", Severity::limits, "Raise --memory, or write the profile where there is more free space."},
    {"boundary-rate", Severity::limits,
     "The program synchronises so often that recording takes part of its time: treat the interference as an upper "
     "bound."},
    {"clock-resolution", Severity::limits,
     "This machine's clock is too coarse to show differences between segments this short."},
    {"partial-coverage", Severity::limits, "Run longer, so that the part that repeats becomes a larger share."},
    {"little-repeats", Severity::limits,
     "Mark the program's steps with MPI_Pcontrol(1) on all ranks (mpi4py: MPI.Pcontrol(1)), or run longer: steps that "
     "repeat also show delays while ranks wait."},
    {"slow-changes", Severity::limits,
     "Measure the machine's background (--background), or compare with another run: a changing clock rate looks like "
     "this."},
    {"crowded-cores", Severity::limits,
     "Give each rank as many cores as it has busy threads, or start fewer: the run is slow by itself."},
    {"perhaps-own", Severity::limits,
     "If the program sleeps or waits by itself, or its work varies, quote its run time. If not, measure again: what is "
     "lost at the same steps in each run is the program's own. A hardware counter tells more work from a slower "
     "machine "
     "(halcyon doctor)."},
    {"slower-than-known", Severity::limits,
     "Other work on the same hosts or a lower clock rate slows a run down evenly: measure again, on other hosts if "
     "necessary. If the program or its input changed, remove the old record with halcyon baselines forget."},
    {"slow-registers", Severity::limits,
     "The cores ran below their best clock rate or were shared with other work: make sure that nothing else runs "
     "there."},
    {"slow-l2", Severity::limits,
     "The cores ran below their best clock rate or shared their caches with other work: make sure that nothing else "
     "runs there."},
    {"slow-memory", Severity::limits,
     "Other work used the memory of this host: make sure that nothing else runs there, or measure on another host."},
    {"no-counter", Severity::limits,
     "Record with --counter auto, so that segments of different work get different groups."},
}};

// As many as there are codes, and none twice.
static_assert(std::all_of(warning_codes.begin(), warning_codes.end(), [](std::string_view code) {
  return std::count_if(infos.begin(), infos.end(), [code](const WarningInfo& info) { return info.code == code; }) == 1;
}));

}  // namespace

const WarningInfo& info_of_warning(std::string_view code) {
  return *std::find_if(infos.begin(), infos.end(), [code](const WarningInfo& info) { return info.code == code; });
}

std::vector<Warning> by_severity(std::vector<Warning> warnings) {
  std::stable_sort(warnings.begin(), warnings.end(), [](const Warning& a, const Warning& b) {
    return info_of_warning(a.code).severity < info_of_warning(b.code).severity;
  });
  return warnings;
}

}  // namespace halcyon
