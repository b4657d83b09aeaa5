#include "report/warnings.hpp"

#include <algorithm>
#include <array>

namespace halcyon {
namespace {

constexpr std::array<WarningInfo, 18> infos{{
    {"boundary-disagreement", Severity::no_verdict,
     "If the program splits its ranks into parts that synchronise on their own, say how many ranks make a boundary "
     "with --boundary-ranks."},
    {"no-boundaries", Severity::no_verdict,
     "If the program synchronises over fewer ranks than all, set --boundary-ranks. If it never does, mark its steps by "
     "MPI_Pcontrol(1) on all ranks (mpi4py: MPI.Pcontrol(1))."},
    {"low-coverage", Severity::no_verdict,
     "Run longer, so that more of the run repeats; start-up and other work done once cannot be judged."},
    {"too-few-segments", Severity::no_verdict, "Run longer: more iterations make more segments alike."},
    {"wide-interval", Severity::no_verdict,
     "Measure again on an idle machine. halcyon compare with another run also shows delays that struck every segment."},
    {"too-short", Severity::no_verdict, "Run longer: more iterations."},
    {"composed", Severity::no_verdict,
     "Its times are for comparing with other runs (halcyon compare), not for quoting as those of one."},
    {"incomplete-run", Severity::limits,
     "The verdict is on the part that was recorded. Spill more often with --spill."},
    {"segments-dropped", Severity::limits, "Raise --memory, or give the profile a place with more room."},
    {"boundary-rate", Severity::limits,
     "The program synchronises so often that recording takes part of its time: take the interference for an upper "
     "bound."},
    {"clock-resolution", Severity::limits,
     "Segments are too short for this machine's clock to tell their differences."},
    {"partial-coverage", Severity::limits, "Run longer, so that the part that repeats becomes a larger share."},
    {"slow-changes", Severity::limits,
     "Measure the machine's background (--background), or compare with another run: a clock rate that changes looks "
     "like this."},
    {"slower-than-known", Severity::limits,
     "Other work on the same hosts, or a slower clock, slows a run down evenly: measure again, on other hosts if need "
     "be. Where the program or its input changed, halcyon baselines forget."},
    {"slow-registers", Severity::limits,
     "The cores ran below their best clock, or shared it with other work: see that nothing else runs there."},
    {"slow-l2", Severity::limits,
     "The cores ran below their best clock, or shared their caches with other work: see that nothing else runs there."},
    {"slow-memory", Severity::limits,
     "Other work used the memory of this host: see that nothing else runs there, or measure again elsewhere."},
    {"no-counter", Severity::limits, "Record with --counter auto, so that different work is told apart."},
}};

}  // namespace

std::span<const WarningInfo> warning_infos() { return infos; }

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
