#include "analyzer/compare/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "analyzer/compare/comparison.hpp"

#include "analyzer/estimate/compound.hpp"
#include "libprofile/format/columns.hpp"
#include "libprofile/system/plural.hpp"

namespace halcyon {
namespace {

// Where a run has fewer of a group's segments together than this, its baseline is only that of a part of the group.
constexpr double least_share_of_group = 0.5;

constexpr std::size_t shortest_part = 4;  // the shortest quarter of a group can always be drawn

/// A segment of one of the runs.
struct Place {
  std::size_t run = 0;
  std::uint32_t segment = 0;
};

/// A group of one run that did the same work as one of the skeleton.
struct Counterpart {
  std::size_t run = 0;
  std::span<const std::uint32_t> members;
};

std::optional<Failure> objection_to_composing(const std::vector<Profile>& runs, const std::vector<std::string>& files) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].exit_state != "finalized") {
      return Failure{fmt::format("{} is not a complete run: it ended as '{}'", files[run], runs[run].exit_state)};
    }
    if (runs[run].dropped_segments > 0) {
      return Failure{fmt::format("{} is not a complete run: it lacks {}", files[run],
                                 plural(runs[run].dropped_segments, "segment"))};
    }
    if (runs[run].segments <= 1) return Failure{files[run] + " has no boundaries, and so no segments to compose"};
  }
  return std::nullopt;
}

// The run with the least excess and the lowest baselines, all against the first: they did the same work.
Outcome<std::size_t> least_disturbed(const std::vector<JudgedRun>& runs, const std::vector<std::string>& files) {
  std::size_t least = 0;
  double least_seconds = runs.front().analysis.result().excess_seconds;
  for (std::size_t run = 1; run < runs.size(); ++run) {
    const Comparison comparison = compare(runs.front(), runs[run]);
    if (comparison.difference) {
      const Difference& difference = *comparison.difference;
      return Failure{fmt::format("{0} and {1} did not do the same work: {2}: {3} in {0}, {4} in {1} [{5}]",
                                 files.front(), files[run], difference.what, difference.in_a, difference.in_b,
                                 difference.code)};
    }
    const double seconds = comparison.b.analysis.result().excess_seconds + comparison.b.baseline_rise_seconds;
    if (seconds < least_seconds) least = run;
    least_seconds = std::min(least_seconds, seconds);
  }
  return least;
}

// The duration up to which a segment of the group is undisturbed.
std::optional<double> threshold_of(const std::vector<Profile>& runs, const std::vector<Counterpart>& counterparts,
                                   std::size_t members_of_skeleton, DurationLaws& laws) {
  std::optional<GroupEstimate> lowest;
  std::vector<float> pooled;
  for (const Counterpart& counterpart : counterparts) {
    const std::vector<float> durations = durations_of(runs[counterpart.run], counterpart.members);
    pooled.insert(pooled.end(), durations.begin(), durations.end());
    if (durations.size() < smallest_judged_group ||
        static_cast<double>(durations.size()) < least_share_of_group * static_cast<double>(members_of_skeleton)) {
      continue;
    }
    const GroupEstimate estimate = estimate_group(durations, laws);
    if (!lowest || estimate.baseline < lowest->baseline) lowest = estimate;
  }
  if (lowest) return lowest->threshold;
  if (pooled.size() < smallest_judged_group) return std::nullopt;
  return estimate_group(pooled, laws).threshold;
}

double duration_of(const std::vector<Profile>& runs, const Place& place) {
  return static_cast<double>(runs[place.run].duration[place.segment]);
}

std::vector<Place> in_order_of_duration(const std::vector<Profile>& runs,
                                        const std::vector<Counterpart>& counterparts) {
  std::vector<Place> places;
  for (const Counterpart& counterpart : counterparts) {
    for (const std::uint32_t segment : counterpart.members) places.push_back({counterpart.run, segment});
  }
  std::stable_sort(places.begin(), places.end(),
                   [&runs](const Place& x, const Place& y) { return duration_of(runs, x) < duration_of(runs, y); });
  return places;
}

// The place of the i-th draw among `count` values in ascending order. Multiples of the golden ratio modulo 1 fill an
// interval evenly, however many are drawn (H. Weyl's sequence; L. Kuipers, H. Niederreiter, Uniform Distribution of
// Sequences, 1974). So short and long values alternate, and each comes as often as it occurs.
std::size_t drawn_index(std::size_t i, std::size_t count) {
  const double multiple = (static_cast<double>(i) + 0.5) * std::numbers::phi;
  const double fraction = multiple - std::floor(multiple);
  return std::min(count - 1, static_cast<std::size_t>(fraction * static_cast<double>(count)));
}

// For each disturbed member of a group, the segment whose times it takes. Drawing narrows the group, so that its own
// threshold may fall below the one used for drawing. This is repeated until no member is above the threshold, or no
// segment is below it.
std::vector<std::optional<Place>> draw(const std::vector<Profile>& runs, const Profile& profile,
                                       std::span<const std::uint32_t> members, const std::vector<Place>& donors,
                                       double threshold, DurationLaws& laws) {
  std::vector<std::optional<Place>> drawn(members.size());
  // Even where the shortest are taken for disturbed, they are the best there is.
  threshold = std::max(threshold, duration_of(runs, donors[donors.size() / shortest_part]));
  for (;;) {
    const auto end = std::partition_point(donors.begin(), donors.end(),
                                          [&](const Place& place) { return duration_of(runs, place) <= threshold; });
    const auto undisturbed = static_cast<std::size_t>(end - donors.begin());
    if (undisturbed == 0) return drawn;
    drawn.assign(members.size(), std::nullopt);
    std::vector<float> composed = durations_of(profile, members);
    std::size_t draws = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (static_cast<double>(composed[i]) <= threshold) continue;
      drawn[i] = donors[drawn_index(draws++, undisturbed)];
      composed[i] = runs[drawn[i]->run].duration[drawn[i]->segment];
    }
    if (members.size() < smallest_judged_group) return drawn;
    const double own = estimate_group(composed, laws).threshold;
    if (static_cast<double>(*std::max_element(composed.begin(), composed.end())) <= own) return drawn;
    threshold = own;
  }
}

using TimesOfRun = std::vector<const std::vector<float>*>;

// Takes the times of a segment, and nothing else. A column that the run lacks counts as zero: without intM nothing was
// injected into it.
void take_times(const std::vector<std::vector<float>*>& columns, std::uint32_t to, const TimesOfRun& run,
                std::uint32_t from) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]->empty()) (*columns[i])[to] = run[i]->empty() ? 0.0F : (*run[i])[from];
  }
}

// Older recorders left columns out. A column that held the times of some runs only would be wrong; but if intM was in
// some runs, the others had no delays.
void leave_what_all_runs_have(Profile& profile, const std::vector<Profile>& runs) {
  std::size_t at = 0;
  for_each_measure_column(profile, [&](const MeasureColumn& column, std::vector<float>& values) {
    const std::size_t which = at++;
    if (measures[index_of(column.measure)].kept == Kept::with_intm) return;
    const auto lacks = [which](const Profile& run) { return measure_columns(run)[which]->empty(); };
    if (std::any_of(runs.begin(), runs.end(), lacks)) values.clear();
  });
}

// If intM was in any run, the truth is known for all segments: into the other runs nothing was injected.
void unite_injection(Profile& profile, const std::vector<Profile>& runs) {
  std::vector<std::string> specs;
  for (const Profile& run : runs) {
    if (!run.inject.empty() && std::find(specs.begin(), specs.end(), run.inject) == specs.end()) {
      specs.push_back(run.inject);
    }
    if (run.injected.critical.empty() || !profile.injected.critical.empty()) continue;
    const std::vector<float> none(profile.segments, 0.0F);
    profile.injected = {none, none, none};
  }
  profile.inject = fmt::format("{}", fmt::join(specs, "; "));
}

// For each group of the skeleton, those of all runs that did the same work.
std::vector<std::vector<Counterpart>> counterparts_of(const JudgedRun& skeleton, const std::vector<JudgedRun>& runs) {
  std::vector<std::vector<Counterpart>> counterparts(skeleton.grouping.groups.count);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const GroupPair& pair : match_groups(skeleton.grouped(), runs[run].grouped())) {
      counterparts[pair.a].push_back({run, runs[run].grouping.members(pair.b)});
    }
  }
  return counterparts;
}

// Replaces the disturbed segments of one group, and adds the time that this saves.
void compose_group(Composition& composition, const std::vector<Profile>& runs, std::span<const std::uint32_t> members,
                   const std::vector<Counterpart>& counterparts, DurationLaws& laws, double& saved_seconds) {
  Profile& profile = composition.profile;
  const std::optional<double> threshold = threshold_of(runs, counterparts, members.size(), laws);
  if (!threshold) {
    composition.unjudged += members.size();
    for (const std::uint32_t segment : members) {
      composition.unjudged_seconds += static_cast<double>(profile.duration[segment]);
    }
    return;
  }
  const std::vector<Place> donors = in_order_of_duration(runs, counterparts);
  const std::vector<std::optional<Place>> drawn = draw(runs, profile, members, donors, *threshold, laws);
  const std::vector<std::vector<float>*> columns = measure_columns(profile);
  std::vector<TimesOfRun> times_of_runs;
  for (const Profile& run : runs) times_of_runs.push_back(measure_columns(run));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!drawn[i]) continue;
    saved_seconds += static_cast<double>(profile.duration[members[i]]);
    take_times(columns, members[i], times_of_runs[drawn[i]->run], drawn[i]->segment);
    profile.last_rank[members[i]] = runs[drawn[i]->run].last_rank[drawn[i]->segment];
    saved_seconds -= static_cast<double>(profile.duration[members[i]]);
    profile.source[members[i]] = static_cast<std::uint16_t>(drawn[i]->run);
    ++composition.replaced;
  }
}

}  // namespace

Outcome<Composition> compose(const std::vector<Profile>& runs, const std::vector<std::string>& files) {
  if (const std::optional<Failure> objection = objection_to_composing(runs, files)) return *objection;
  std::vector<JudgedRun> judged;
  for (const Profile& run : runs) judged.push_back(judge(run));
  const Outcome<std::size_t> skeleton = least_disturbed(judged, files);
  if (!skeleton) return skeleton.failure();

  Composition composition{.profile = runs[*skeleton], .skeleton = *skeleton};
  Profile& profile = composition.profile;
  const Grouping& groups = judged[*skeleton].grouping;
  const std::vector<std::vector<Counterpart>> counterparts = counterparts_of(judged[*skeleton], judged);
  leave_what_all_runs_have(profile, runs);
  profile.exit_state = "composed";
  profile.composed_of = files;
  profile.sections = {};
  profile.known_runs.reset();  // they were compared with the times of one run
  profile.source.assign(profile.segments, static_cast<std::uint16_t>(*skeleton));
  unite_injection(profile, runs);
  DurationLaws laws;
  double saved_seconds = 0.0;
  for (std::uint32_t group = 0; group < groups.groups.count; ++group) {
    compose_group(composition, runs, groups.members(group), counterparts[group], laws, saved_seconds);
  }

  profile.run_time_seconds = std::max(0.0, profile.run_time_seconds - saved_seconds);
  for (double& seconds : profile.rank_run_time) seconds = std::max(0.0, seconds - saved_seconds);
  composition.given.assign(runs.size(), 0);
  for (const std::uint16_t run : profile.source) ++composition.given[run];
  return composition;
}

}  // namespace halcyon
