// The figures of a run as SVG for the HTML page, whose style sheet gives them colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/overview.hpp"

namespace halcyon {

/// The interference and its interval on the scale of the traffic light.
std::string light_figure(const MethodResult& result);

/// Time lost in each part of the run.
std::string lost_figure(const Breakdown& breakdown);

/// A part of the run that is shaded in the timeline. Kinds are `startup`, of what is not stable, `slower` and `faster`.
struct ShadedPart {
  double from_seconds = 0.0;
  double to_seconds = 0.0;
  std::string_view kind;
};
std::vector<ShadedPart> shaded_parts(const Phases& phases);

/// Durations of segments along the run, with the disturbed ones marked.
inline constexpr std::string_view timeline_label = "Durations of segments along the run, disturbed ones marked";
std::string timeline_figure(const Overview& overview, const std::vector<ShadedPart>& shaded);

/// Which ranks held the others up, and when.
std::string lateness_figure(const Overview& overview);

/// Durations of all segments together (the paper's Fig. 1b).
std::string durations_figure(const Overview& overview);
/// Durations of one group, with its baseline and its threshold (the paper's Fig. 1c and 1d).
std::string group_figure(const GroupOverview& group);

/// Runs in order of their time, with the estimated interference of each over the bands of the classes (the paper's
/// Fig. 2).
struct RunOnFigure {
  std::string label;
  double run_time_seconds = 0.0;
  MethodResult result;
};
std::string side_by_side_figure(const std::vector<RunOnFigure>& runs);

}  // namespace halcyon
