#include "analyzer/judge/analysis.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <numeric>
#include <utility>

#include "analyzer/estimate/earlier_runs.hpp"
#include "analyzer/estimate/surely_lost.hpp"
#include "analyzer/groups/timeline.hpp"
#include "analyzer/judge/account.hpp"
#include "analyzer/judge/cpu_waits.hpp"
#include "analyzer/judge/draws.hpp"
#include "analyzer/judge/recorded_groups.hpp"

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
                               const Account& of_rest, const ProbeDisplacements& probes) {
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
  interval.high = std::max(interval.high, std::min(judged_seconds, waited_for_others_at_most(profile)));

  // A slower machine takes more CPU time for the same work, and some of the work was done beside that of another
  // thread.
  const double hidden = most_side_by_side(profile);
  const double beside = judged_seconds > 0.0 ? std::min(1.0, hidden / judged_seconds) : 0.0;
  std::vector<double> needed = needed_seconds(judged);
  for (double& seconds : needed) seconds *= (1.0 - perhaps_lost_share(probes)) * (1.0 - beside);
  const double all_needed = std::accumulate(needed.begin(), needed.end(), 0.0);
  const double most = judged_seconds - all_needed;
  // Known runs tell how slow the machine was.
  if (!profile.known_runs) leave_what_was_needed(estimate, judged, needed, most);

  // What changes slowly is the program's or the machine's.
  const double slow = perhaps_slow_seconds(profile, judged);
  std::vector<Addend> addends{{{-hidden, hidden}}, {{0.0, slow}, true}, open_in(of_rest)};
  if (!profile.known_runs) {
    // Probes may have seen a slow machine. Nothing else tells what that cost this program.
    addends.push_back({{0.0, perhaps_lost_share(probes) * std::max(0.0, judged_seconds - interval.high)}});
    addends.push_back({{0.0, perhaps_slower * share_on_busy_hosts(profile) * all_needed}});
  }
  const double room = profile.known_runs ? judged_seconds : most + perhaps_slower * all_needed;
  interval = interval_of_draws(estimate.excess_of_groups(), interval, {0.0, room}, addends);
  interval.low = of_rest.lost_seconds + std::max(0.0, interval.low);
  interval.high = of_rest.lost_seconds + std::min(interval.high, room + slow + open_in(of_rest).ends.high);
}

// Of few segments, durations do not tell enough: the interval contains what the kernel counted in all.
void add_account_of_all(Interval& excess_seconds, const Account& all) {
  const Interval lost{all.lost_seconds, all.lost_seconds};
  const Interval counted = interval_of_draws(all.lost_seconds, lost, lost, std::vector{open_in(all)});
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

// What the method that speaks for the run says of groups and segments.
void take_over(Analysis& analysis, const Profile& profile, const Families& families, const JudgedDurations& judged,
               const RunEstimate& estimate) {
  double left = analysis.run_time_seconds;
  for (std::size_t f = 0; f < families.all().size(); ++f) {
    const GroupEstimate& of_family = estimate.groups[f];
    const Family& family = families.all()[f];
    left -= of_family.excess_seconds;
    for (std::size_t g = 0; g < family.groups.size(); ++g) {
      const auto relative = static_cast<double>(family.relative[g]);
      analysis.judged.push_back({.group = family.groups[g],
                                 .baseline_seconds = relative * of_family.baseline,
                                 .threshold_seconds = relative * of_family.threshold});
    }
  }
  std::ranges::sort(analysis.judged, {}, &JudgedGroup::group);
  const std::vector<float> of_families = by_segment(profile, families, estimate.excess);
  std::ranges::transform(of_families, analysis.excess, analysis.excess.begin(), std::plus());
  analysis.slow_percent =
      percent_of_run(std::min(perhaps_slow_seconds(profile, judged), left), analysis.run_time_seconds);
}

// What the program may have done by itself: its ranks, threads and child processes take the CPUs from each other,
// nobody from outside is known to have put a rank to sleep, and durations do not tell whether a thread spun for a
// delayed one or had more to do, nor, by CPU time, whether the machine was slower for a while or the program did more
// work. What a device does is not seen: a kernel may go round its loops as often as its data say. Nor is what a rank
// did that left nothing, while others waited for it.
Undecided undecided_of(const Profile& profile, const Breakdown& breakdown, double speed_percent) {
  const auto lost_in = [&breakdown](ExcessKind kind) {
    return std::max(0.0, breakdown.kinds[static_cast<std::size_t>(kind)]);
  };
  Undecided undecided{.slept_seconds = own_waiting_seconds(profile, breakdown),
                      .spun_seconds = most_work_beyond_least(profile),
                      .crowded_seconds = waited_for_own_threads(profile),
                      .children_seconds = waited_for_children(profile),
                      .device_seconds = lost_in(ExcessKind::device)};
  if (profile.counter == "cpu") {
    undecided.slower_seconds =
        std::min(0.01 * speed_percent * profile.run_time_seconds, lost_in(ExcessKind::computation));
  }
  bool is_rank_missing = false;
  for (std::size_t rank = 0; rank < profile.rank_host.size(); ++rank) {
    is_rank_missing = is_rank_missing || profile.left_nothing(rank);
  }
  if (is_rank_missing) {
    undecided.waited_seconds = lost_in(ExcessKind::point_to_point) + lost_in(ExcessKind::collective);
  }
  return undecided;
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

void set_verdict(MethodResult& result, const Analysis& analysis) {
  result.probability_high =
      probability_high(result.may_be_own ? result.interval_percent.low : result.interference_percent);
  result.verdict = analysis.no_verdict ? Verdict::unknown
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
    for (const std::uint32_t segment : family.members) {
      const float perhaps_slow = slow.empty() ? 0.0F : slow[segment];
      usual[segment] = std::max(0.0F, profile.duration[segment] - excess[segment] - perhaps_slow);
    }
  }
  // A run that stayed at such a level would not be green. With a smaller share, it is no more than jitter.
  constexpr LeastChange least{.factor = 1.0 / (1.0 - 0.01 * green_below_percent), .share = 0.01};
  return find_phases(profile, {.usual = usual, .slow = slow}, least);
}

// What can be counted before anything is estimated.
Analysis counted(const Profile& profile, const Grouping& grouping) {
  Analysis analysis;
  analysis.segments = profile.segments;
  analysis.clusters = grouping.clusters;
  analysis.groups = grouping.groups.count;
  analysis.run_time_seconds = profile.run_time_seconds;
  if (profile.run_time_seconds > 0.0) {
    analysis.segment_rate_hz = static_cast<double>(profile.segments) / profile.run_time_seconds;
  }
  analysis.unit = unit_of_work(profile);
  analysis.known_runs = profile.known_runs;
  analysis.probes = probe_displacement(profile);
  analysis.peers = compare_with_peers(profile);
  if (!profile.injected.critical.empty() && profile.run_time_seconds > 0.0) {
    double critical = 0.0;
    for (const float seconds : profile.injected.critical) critical += static_cast<double>(seconds);
    analysis.injected_percent = percent_of_run(critical, profile.run_time_seconds);
  }
  return analysis;
}

// How much of the run is known, and how. What the kernel counted is the default method's.
void cover(Analysis& analysis, Judged& judged, std::string_view method) {
  const JudgedDurations& durations = judged.durations(method);
  analysis.judged_segments = durations.durations.size();
  const bool is_by_default = is_default(method);
  const double repeats = is_by_default && judged.are_few ? 0.0 : length_of(durations.durations);
  const double explained = is_by_default ? judged.account().explained_seconds() : 0.0;
  analysis.accounted_percent = percent_of_run(explained, analysis.run_time_seconds);
  analysis.coverage_percent = percent_of_run(repeats + explained, analysis.run_time_seconds);
  analysis.excess = std::move(judged.of_rest.lost);
  if (!is_by_default) std::ranges::fill(analysis.excess, 0.0F);
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
  Analysis analysis = counted(profile, grouping);
  Judged judged = judged_of(profile, grouping, analysis.peers);
  cover(analysis, judged, method);
  analysis.no_verdict = no_verdict(profile, analysis, is_default(method));

  // Estimates of few groups leave processors idle.
  std::future<SecondsByKind> spent = std::async(time_spent, std::cref(profile));
  const double run_time = profile.run_time_seconds;
  std::vector<std::future<RunEstimate>> estimates;  // none of a run that took no time
  if (run_time > 0.0) estimates = start_estimates(judged, method, candidates);
  for (const Method& candidate : candidates) {
    const bool is_chosen = candidate.name == method;
    if (is_chosen) analysis.chosen = analysis.methods.size();
    MethodResult result{.name = candidate.name};
    if (!estimates.empty()) {
      RunEstimate estimate = estimates[analysis.methods.size()].get();
      double accounted_seconds = 0.0;
      if (is_default(candidate.name)) {
        weigh_with_other_evidence(estimate, profile, judged.durations(candidate.name), judged.of_rest, analysis.probes);
        if (judged.are_few) add_account_of_all(estimate.excess_seconds, judged.of_all);
        accounted_seconds = judged.of_rest.lost_seconds;
      }
      result = result_of(candidate.name, estimate, accounted_seconds, run_time);
      if (is_chosen) take_over(analysis, profile, judged.families(method), judged.durations(method), estimate);
    }
    analysis.methods.push_back(result);
  }
  analysis.breakdown = attribute(profile, grouping, analysis.excess);
  if (MethodResult& result = analysis.methods[analysis.chosen]; run_time > 0.0 && is_default(result.name)) {
    analysis.undecided = undecided_of(profile, analysis.breakdown, result.speed_percent);
    leave_open(result, analysis.undecided, lost_to_cpu_waits(profile), run_time);
  }
  // No more than the interval has room for.
  const MethodResult& chosen = analysis.result();
  analysis.slow_percent = std::min(analysis.slow_percent, chosen.interval_percent.high - chosen.interference_percent);
  for (MethodResult& result : analysis.methods) set_verdict(result, analysis);
  analysis.spent = spent.get();
  analysis.phases = phases_of(profile, analysis.excess, judged.families(method), judged.durations(method));
  if (!analysis.no_verdict && analysis.result().verdict == Verdict::unknown) {
    analysis.no_verdict = no_verdict_within(analysis.result().interval_percent);
  }
  add_warnings(profile, analysis);
  analysis.cause = likely_cause(profile, grouping, analysis);
  return analysis;
}

}  // namespace halcyon
