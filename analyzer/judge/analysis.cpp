#include "analyzer/judge/analysis.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <numeric>
#include <utility>

#include "analyzer/estimate/earlier_runs.hpp"
#include "analyzer/estimate/surely_lost.hpp"
#include "analyzer/evidence/account.hpp"
#include "analyzer/evidence/cpu_waits.hpp"
#include "analyzer/groups/timeline.hpp"
#include "analyzer/judge/draws.hpp"
#include "analyzer/judge/recorded_groups.hpp"
#include "libprofile/format/boundary.hpp"

namespace halcyon {
namespace {

bool is_default(std::string_view method) { return method == methods.front().name; }

// What methods judge. Those that were published judge segments that others are like. The default method also judges
// those that others are near to, and knows what the kernel counted in the rest.
struct Judged {
  Families alike;
  Families near;
  JudgedDurations of_alike;
  JudgedDurations of_near;  // not set where all that are near are alike
  Account of_rest;          // of segments in no family of `near`
  Account of_all;           // of all segments; not set where enough are near to others
  bool are_few = false;     // that are near to others: their durations do not tell enough

  const Families& families(std::string_view method) const { return is_default(method) ? near : alike; }
  const JudgedDurations& durations(std::string_view method) const {
    return is_default(method) && near.are_joined() ? of_near : of_alike;
  }
  const Account& account() const { return are_few ? of_all : of_rest; }
};

Judged judged_of(const Profile& profile, const Grouping& grouping, const PeerComparison& peers) {
  Judged judged{.alike = Families(grouping), .near = Families(profile, grouping)};
  judged.of_alike = recorded_groups(profile, grouping, peers, judged.alike);
  if (judged.near.are_joined()) judged.of_near = recorded_groups(profile, grouping, peers, judged.near);
  judged.of_rest = account_of(profile, judged.near);
  judged.are_few = judged.near.segments() < fewest_judged_segments;
  if (judged.are_few) judged.of_all = account_of(profile, Families());
  return judged;
}

// All methods at once, each on a thread of its own. They share only what they read.
std::vector<std::future<RunEstimate>> start_estimates(const Judged& judged, std::string_view method,
                                                      std::span<const Method> candidates) {
  std::vector<std::future<RunEstimate>> estimates;
  for (const Method& candidate : candidates) {
    estimates.push_back(std::async(candidate.estimate, std::cref(judged.durations(candidate.name)),
                                   candidate.name == method ? Detail::segments : Detail::groups));
  }
  return estimates;
}

// No group has lost what was needed, and the interval knows it. `most`: what was not, in s. Durations that say more is
// lost do not quite follow any law that is known. By as much as they say too much, less may be lost than there is room
// for, down to what others took.
void leave_what_was_needed(RunEstimate& estimate, const JudgedDurations& judged, const std::vector<double>& needed,
                           double most) {
  leave_what_is_needed(estimate, judged, needed);
  double& low = estimate.excess_seconds.low;
  if (const double too_much = low - most; too_much > 0.0) {
    low = std::min(most, std::max(length_of(judged.surely_lost), most - too_much));
  }
}

// What may have been lost, beyond what is surely lost, where only the kernel's account is known.
Addend open_in(const Account& account) { return {{0.0, account.perhaps_lost_seconds() - account.lost_seconds}}; }

// What a slower machine may have cost, or more work, in s. It is in what known runs say of parts of the whole run.
double perhaps_slow_seconds(const Profile& profile, const JudgedDurations& judged) {
  const bool are_parts_known = profile.known_runs && profile.known_runs->of_parts;
  return are_parts_known ? 0.0 : length_of(judged.perhaps_slow);
}

// What is known beside the durations: earlier runs of the same work, probes of the machine, waits for a CPU, who else
// was there, and what the kernel counted in the other segments.
void weigh_with_other_evidence(RunEstimate& estimate, const Profile& profile, const JudgedDurations& judged,
                               const Account& of_rest, double perhaps_slower_by_probes) {
  const double judged_seconds = length_of(judged.durations);
  Interval& interval = estimate.excess_seconds;
  if (const std::optional<KnownRuns>& known = profile.known_runs) {
    if (const auto& parts = known->of_parts) {
      weigh_with_known(estimate, judged, parts->beyond_seconds, {parts->low_seconds, parts->high_seconds}, parts->runs);
    } else {
      add_rise(estimate, judged, known->displacement_seconds, {known->low_seconds, known->high_seconds});
    }
  }
  // Others had the CPU. Where they had it all the time, durations do not show it.
  raise_to_surely_lost(estimate, judged);
  // While all ranks wait, nothing goes on; of that, at most what is not judged was elsewhere.
  const double not_judged = std::max(0.0, profile.run_time_seconds - judged_seconds);
  const double stood_still = cpu_waits_are_of_others(profile) ? all_waited_for_cpu(profile) - not_judged : 0.0;
  add_evenly(estimate, judged, stood_still - estimate.excess_of_groups());
  interval.low = std::max(interval.low, stood_still);
  interval.high = std::max(interval.high, estimate.excess_of_groups());
  const double waited_at_most =
      std::max(waited_for_others_at_most(profile), stood_still_at_most(profile, 0.01 * green_below_percent));
  interval.high = std::max(interval.high, std::min(judged_seconds, waited_at_most));

  // A slower machine takes more CPU time for the same work, and some of the work was done beside that of another
  // thread.
  const double hidden = most_side_by_side(profile);
  const double beside = judged_seconds > 0.0 ? std::min(1.0, hidden / judged_seconds) : 0.0;
  std::vector<double> needed = needed_seconds(judged);
  for (double& seconds : needed) seconds *= (1.0 - perhaps_slower_by_probes) * (1.0 - beside);
  const double all_needed = std::accumulate(needed.begin(), needed.end(), 0.0);
  const double most = judged_seconds - all_needed;
  // Known runs tell how slow the machine was.
  if (!profile.known_runs) leave_what_was_needed(estimate, judged, needed, most);

  // What changes slowly is the program's or the machine's.
  const double slow = perhaps_slow_seconds(profile, judged);
  // A thief that is always there takes its share of each CPU; one that comes and goes makes segments count more.
  const Stolen theft = stolen_time(profile);
  const bool may_spin = !judged.work_is_time && has_busy_threads(profile);
  const double uneven = theft.at_most > 0.0 || may_spin ? seconds_beyond_least_work(judged) : 0.0;
  const double stolen = std::max(theft.from_one_cpu, std::min(theft.at_most, uneven));
  const double spun = may_spin ? uneven : 0.0;
  std::vector<Addend> addends{
      {{-hidden, hidden}}, {{0.0, slow}, true}, {{0.0, stolen}, true}, {{0.0, spun}, true}, open_in(of_rest)};
  double slow_in_rest = 0.0;
  if (!profile.known_runs) {
    // Probes may have seen a slow machine. Nothing else tells what that cost this program.
    slow_in_rest = perhaps_slower_by_probes * of_rest.needed_seconds;
    addends.push_back({{0.0, slow_in_rest + perhaps_slower_by_probes * std::max(0.0, judged_seconds - interval.high)}});
    addends.push_back({{0.0, perhaps_slower * share_on_busy_hosts(profile) * all_needed}});
  }
  const double room =
      profile.known_runs ? judged_seconds : std::min(judged_seconds, most + stolen + perhaps_slower * all_needed);
  keep_within_durations(estimate, judged);
  interval = interval_of_draws(estimate.excess_of_groups(), interval, {0.0, room}, addends);
  interval.low = of_rest.lost_seconds + std::max(0.0, interval.low);
  interval.high =
      of_rest.lost_seconds + std::min(interval.high, room + slow + open_in(of_rest).ends.high + slow_in_rest);
}

// Of few segments, durations do not tell enough: the interval contains what the kernel counted in all.
void add_account_of_all(Interval& excess_seconds, const Account& all, double slower) {
  const Interval lost{all.lost_seconds, all.lost_seconds};
  const Interval counted = interval_of_draws(all.lost_seconds, lost, lost,
                                             std::vector{open_in(all), Addend{{0.0, slower * all.needed_seconds}}});
  excess_seconds = {std::min(excess_seconds.low, counted.low), std::max(excess_seconds.high, counted.high)};
}

double percent_of_run(double seconds, double run_time) {
  return run_time > 0.0 ? 100.0 * std::clamp(seconds / run_time, 0.0, 1.0) : 0.0;
}

// `accounted_seconds`: lost for sure in segments that are in no group.
MethodResult result_of(std::string_view method, const RunEstimate& estimate, double accounted_seconds,
                       double run_time) {
  MethodResult result{.name = method, .excess_seconds = accounted_seconds};
  double continuous_seconds = 0.0;
  double speed_seconds = 0.0;
  double slow_ranks_seconds = 0.0;
  for (const GroupEstimate& group : estimate.groups) {
    result.excess_seconds += group.excess_seconds;
    continuous_seconds += group.continuous_seconds;
    speed_seconds += group.speed_seconds;
    slow_ranks_seconds += group.slow_ranks_seconds;
  }
  result.interference_percent = percent_of_run(result.excess_seconds, run_time);
  result.continuous_percent = percent_of_run(continuous_seconds, run_time);
  result.speed_percent = percent_of_run(speed_seconds, run_time);
  result.slow_ranks_percent = percent_of_run(slow_ranks_seconds, run_time);
  // Time lost in segments that are not judged cannot be excess of the judged ones. The interval still holds the
  // estimate.
  result.interval_percent = {
      std::min(percent_of_run(estimate.excess_seconds.low, run_time), result.interference_percent),
      std::max(percent_of_run(estimate.excess_seconds.high, run_time), result.interference_percent)};
  return result;
}

// What the method that speaks for the run says of groups.
std::vector<JudgedGroup> judged_groups_of(const Families& families, const RunEstimate& estimate) {
  std::vector<JudgedGroup> judged;
  for (std::size_t f = 0; f < families.all().size(); ++f) {
    const GroupEstimate& of_family = estimate.groups[f];
    const Family& family = families.all()[f];
    for (std::size_t g = 0; g < family.groups.size(); ++g) {
      const auto relative = static_cast<double>(family.relative[g]);
      judged.push_back({.group = family.groups[g],
                        .baseline_seconds = relative * of_family.baseline,
                        .threshold_seconds = relative * of_family.threshold});
    }
  }
  std::ranges::sort(judged, {}, &JudgedGroup::group);
  return judged;
}

// The lower end falls by it, but not below what the kernel saw others take: that much came from outside for sure.
void leave_open(MethodResult& result, const Undecided& undecided, double lost_at_least_seconds, double run_time) {
  double& low = result.interval_percent.low;
  const double lost_for_sure = low;
  const double open = percent_of_run(undecided.seconds(), run_time);
  low = std::min(low, std::max(low - open, percent_of_run(lost_at_least_seconds, run_time)));
  const bool is_most_open = low < 0.5 * lost_for_sure ||
                            (open >= 0.5 * result.interference_percent && low < 0.5 * result.interference_percent);
  result.may_be_own = is_most_open && verdict_of(result.interference_percent) != Verdict::green;
}

void set_verdict(MethodResult& result, bool has_no_verdict) {
  result.probability_high =
      probability_high(result.may_be_own ? result.interval_percent.low : result.interference_percent);
  result.verdict = has_no_verdict      ? Verdict::unknown
                   : result.may_be_own ? verdict_of(result.interference_percent)
                                       : verdict_within(result.interference_percent, result.interval_percent);
  const bool is_surely_red = verdict_of(result.interval_percent.low) == Verdict::red;
  if (result.may_be_own && result.verdict == Verdict::red && !is_surely_red) result.verdict = Verdict::yellow;
}

// `excess`: (segments) s.
std::optional<Phases> phases_of(const Profile& profile, const std::vector<float>& excess, const Families& families,
                                const JudgedDurations& judged) {
  std::vector<float> slow;
  if (!judged.perhaps_slow.empty()) slow = by_segment(profile, families, judged.perhaps_slow);
  std::vector<float> usual(profile.segments, 0.0F);
  for (const Family& family : families.all()) {
    double seconds = 0.0;
    for (const std::uint32_t segment : family.members) {
      const float perhaps_slow = slow.empty() ? 0.0F : slow[segment];
      usual[segment] = profile.duration[segment] - excess[segment] - perhaps_slow;
      seconds += static_cast<double>(usual[segment]);
    }
    // Where others took time for sure, a segment may seem to need none; it needs what its group needs.
    const float mean = static_cast<float>(std::max(0.0, seconds / static_cast<double>(family.members.size())));
    for (const std::uint32_t segment : family.members) {
      if (!(usual[segment] > 0.0F)) usual[segment] = std::min(profile.duration[segment], mean);
    }
  }
  // A run that stayed at such a level would not be green. With a smaller share, it is no more than jitter.
  constexpr LeastChange least{.factor = 1.0 / (1.0 - 0.01 * green_below_percent), .share = 0.01};
  return find_phases(profile, {.usual = usual, .slow = slow}, least);
}

std::optional<double> injected_percent_of(const Profile& profile) {
  if (profile.injected.critical.empty() || !(profile.run_time_seconds > 0.0)) return std::nullopt;
  return percent_of_run(length_of(profile.injected.critical), profile.run_time_seconds);
}

// How much of the run is known, and how. What the kernel counted is the default method's.
Coverage coverage_of(const Judged& judged, std::string_view method, double run_time) {
  const JudgedDurations& durations = judged.durations(method);
  const bool is_by_default = is_default(method);
  const double repeats = is_by_default && judged.are_few ? 0.0 : length_of(durations.durations);
  const double explained = is_by_default ? judged.account().explained_seconds() : 0.0;
  return {.judged_segments = durations.durations.size(),
          .percent = percent_of_run(repeats + explained, run_time),
          .accounted_percent = percent_of_run(explained, run_time)};
}

}  // namespace

const JudgedGroup* Analysis::judged_group(std::uint32_t group) const {
  const auto found = std::lower_bound(judged.begin(), judged.end(), group,
                                      [](const JudgedGroup& one, std::uint32_t number) { return one.group < number; });
  return found != judged.end() && found->group == group ? &*found : nullptr;
}

Interval Analysis::undisturbed_interval_seconds() const {
  const Interval& percent = result().interval_percent;
  return {run_time_seconds * (1.0 - 0.01 * percent.high), run_time_seconds * (1.0 - 0.01 * percent.low)};
}

Analysis analyze(const Profile& profile, std::string_view method, std::span<const Method> candidates) {
  return analyze(profile, group_segments(profile), method, candidates);
}

JudgedRun judge(const Profile& profile) {
  JudgedRun run{.profile = profile, .grouping = group_segments(profile), .analysis = {}};
  run.analysis = analyze(profile, run.grouping, methods.front().name);
  return run;
}

Analysis analyze(const Profile& profile, const Grouping& grouping, std::string_view method,
                 std::span<const Method> candidates) {
  const double run_time = profile.run_time_seconds;
  const ProbeDisplacements probes = probe_displacement(profile);
  const double perhaps_slower_by_probes = perhaps_lost_share(probes);
  PeerComparison peers = compare_with_peers(profile);
  Judged judged = judged_of(profile, grouping, peers);
  const Coverage coverage = coverage_of(judged, method, run_time);
  std::optional<NoVerdict> no_verdict = no_verdict_of(profile, coverage, is_default(method));

  // Estimates of few groups leave processors idle.
  std::future<SecondsByKind> spent = std::async(time_spent, std::cref(profile));
  std::vector<std::future<RunEstimate>> estimates;  // none of a run that took no time
  if (run_time > 0.0) estimates = start_estimates(judged, method, candidates);
  std::vector<MethodResult> results;
  std::size_t chosen = 0;
  std::vector<JudgedGroup> groups;
  std::vector<float> excess = std::move(judged.of_rest.lost);  // a copy would take much memory
  if (!is_default(method)) std::ranges::fill(excess, 0.0F);
  for (const Method& candidate : candidates) {
    const bool is_chosen = candidate.name == method;
    if (is_chosen) chosen = results.size();
    MethodResult result{.name = candidate.name};
    if (!estimates.empty()) {
      RunEstimate estimate = estimates[results.size()].get();
      double accounted_seconds = 0.0;
      if (is_default(candidate.name)) {
        weigh_with_other_evidence(estimate, profile, judged.durations(candidate.name), judged.of_rest,
                                  perhaps_slower_by_probes);
        if (judged.are_few) add_account_of_all(estimate.excess_seconds, judged.of_all, perhaps_slower_by_probes);
        accounted_seconds = judged.of_rest.lost_seconds;
      }
      result = result_of(candidate.name, estimate, accounted_seconds, run_time);
      if (is_chosen) {
        groups = judged_groups_of(judged.families(method), estimate);
        const std::vector<float> of_families = by_segment(profile, judged.families(method), estimate.excess);
        std::ranges::transform(of_families, excess, excess.begin(), std::plus());
      }
    }
    results.push_back(result);
  }

  Breakdown breakdown = attribute(profile, grouping, excess);
  Undecided undecided;
  if (MethodResult& result = results[chosen]; run_time > 0.0 && is_default(result.name)) {
    undecided = undecided_of(profile, breakdown, 0.01 * result.speed_percent * run_time);
    leave_open(result, undecided, lost_to_cpu_waits(profile), run_time);
  }
  for (MethodResult& result : results) set_verdict(result, no_verdict.has_value());
  const MethodResult& result = results[chosen];
  if (!no_verdict && result.verdict == Verdict::unknown) no_verdict = no_verdict_within(result.interval_percent);
  // No more than the interval has room for.
  const double slow_percent =
      std::min(percent_of_run(perhaps_slow_seconds(profile, judged.durations(method)), run_time),
               result.interval_percent.high - result.interference_percent);
  std::optional<Phases> phases = phases_of(profile, excess, judged.families(method), judged.durations(method));
  std::optional<Cause> cause;
  if (result.verdict == Verdict::yellow || result.verdict == Verdict::red) {
    cause = likely_cause(
        profile, grouping,
        {.seconds = 0.01 * result.interference_percent * run_time,
         .least_seconds = 0.01 * result.interval_percent.low * run_time,
         .speed_seconds = 0.01 * result.speed_percent * run_time,
         .slow_ranks_seconds = 0.01 * result.slow_ranks_percent * run_time,
         .is_red = result.verdict == Verdict::red,
         .breakdown = breakdown,
         .excess = excess,
         .groups = groups,
         .changes = phases ? std::span<const LevelChange>(phases->changes) : std::span<const LevelChange>(),
         .slower = peers.slower});
  }

  Analysis analysis{.segments = profile.segments,
                    .clusters = grouping.clusters,
                    .groups = grouping.groups.count,
                    .judged_segments = coverage.judged_segments,
                    .run_time_seconds = run_time,
                    .coverage_percent = coverage.percent,
                    .accounted_percent = coverage.accounted_percent,
                    .segment_rate_hz = run_time > 0.0 ? static_cast<double>(profile.segments) / run_time : 0.0,
                    .methods = std::move(results),
                    .chosen = chosen,
                    .excess = std::move(excess),
                    .breakdown = std::move(breakdown),
                    .undecided = undecided,
                    .spent = spent.get(),
                    .slow_percent = slow_percent,
                    .no_verdict = std::move(no_verdict),
                    .cause = std::move(cause),
                    .judged = std::move(groups),
                    .unit = unit_of_work(profile),
                    .phases = std::move(phases),
                    .injected_percent = injected_percent_of(profile),
                    .known_runs = profile.known_runs,
                    .probes = probes,
                    .peers = std::move(peers),
                    .warnings = {}};
  analysis.warnings = warnings_of(profile, analysis);
  return analysis;
}

}  // namespace halcyon
