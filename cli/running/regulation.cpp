#include "cli/running/regulation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/console/progress.hpp"
#include "cli/running/beside.hpp"
#include "cli/running/cores_of_ranks.hpp"
#include "cli/running/watched_jobs.hpp"
#include "libprofile/live/reader.hpp"
#include "libprofile/live/suspender.hpp"
#include "libprofile/system/nanoseconds.hpp"

namespace halcyon::cli {
namespace {

constexpr double nanosecond = 1e-9;
constexpr double between_looks = 0.1;         // s; the ranks publish no more often
constexpr double lease = 3.0;                 // s; the ranks go on so long after the last renewal
constexpr double between_renewals = 1.0;      // s
constexpr double longest_way_to_stop = 10.0;  // s, or so many times the mean segment
constexpr double segments_to_stop = 5.0;

std::uint64_t end_of_lease() { return static_cast<std::uint64_t>((monotonic_seconds() + lease) / nanosecond); }

bool has_all_ranks(const live::JobNow& job) { return job.here.size() == job.ranks; }

// The live record of the job that this process has started, as soon as there is one.
std::optional<live::Reader> job_of_this_process(const std::stop_token& stop) {
  RecordsHere records({.process = getpid()});
  while (waited(stop, between_looks)) {
    if (records.find() && !records.readers().empty()) return std::move(records.readers().front());
  }
  return std::nullopt;
}

double total_of(const live::RankNow& rank, ProgressMetric metric) {
  switch (metric) {
    case ProgressMetric::segments: return static_cast<double>(rank.totals.segments);
    case ProgressMetric::message_bytes: return static_cast<double>(rank.totals.message_bytes);
    case ProgressMetric::file_bytes: break;
  }
  return static_cast<double>(rank.totals.file_bytes);
}

// Progress since the run began, and when that was so: the end of the last segment that is in it.
struct ProgressNow {
  double seconds = 0.0;
  ProgressOfMetrics totals;
};

// Segments are the same on all ranks: those of the first one count.
ProgressNow progress_of(const live::JobNow& job, const std::vector<ProgressMetric>& metrics) {
  ProgressNow progress{nanosecond * static_cast<double>(job.here.front().totals.last_end),
                       ProgressOfMetrics::Zero(static_cast<Eigen::Index>(metrics.size()))};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    for (const live::RankNow& rank : job.here) {
      progress.totals[static_cast<Eigen::Index>(i)] += total_of(rank, metrics[i]);
      if (metrics[i] == ProgressMetric::segments) break;
    }
  }
  return progress;
}

class RegulatedJob {
 public:
  RegulatedJob(live::Reader reader, live::Suspender ranks, const std::stop_token& stop)
      : reader_(std::move(reader)), ranks_(std::move(ranks)), stop_(stop) {}
  ~RegulatedJob() { ranks_.let_go(); }
  RegulatedJob(const RegulatedJob&) = delete;
  RegulatedJob& operator=(const RegulatedJob&) = delete;

  Outcome<live::JobNow> look() const { return reader_.read_totals(); }

  /// For so many seconds, and then as long as `goes_on` says so: it is asked once when all stand still, and then again
  /// and again. Returns for how long they stood still; nothing if they did not come to it.
  template <class GoesOn>
  std::optional<double> suspend(double seconds, GoesOn goes_on) {
    const Outcome<live::JobNow> before = look();
    if (!before || !ask(*before)) return std::nullopt;
    double renewed = monotonic_seconds();
    const auto renews = [&] {
      if (monotonic_seconds() - renewed < between_renewals) return;
      ranks_.renew(end_of_lease());
      renewed = monotonic_seconds();
    };
    const double asked = monotonic_seconds();
    const double patience = std::max(longest_way_to_stop, segments_to_stop * segment_seconds(*before));
    bool stand_still = false;
    while (!stand_still && monotonic_seconds() - asked < patience && waited(stop_, between_looks)) {
      renews();
      stand_still = do_stand_still();
    }
    const double began = monotonic_seconds();
    const auto is_over = [&] {
      const double stood = monotonic_seconds() - began;
      return !goes_on(stood) && stood >= seconds;
    };
    while (stand_still && !is_over() && waited(stop_, std::min(between_looks, seconds))) renews();
    ranks_.let_go();
    if (!stand_still) return std::nullopt;
    return monotonic_seconds() - began;
  }

 private:
  static double segment_seconds(const live::JobNow& job) {
    const live::Totals& totals = job.here.front().totals;
    return totals.segments > 0 ? totals.seconds / static_cast<double>(totals.segments) : 0.0;
  }

  // The boundary must be so far away that no rank reaches it before all ranks know of it.
  bool ask(const live::JobNow& job) {
    constexpr double ahead_seconds = 0.15;
    constexpr int tries = 4;
    double ahead = segment_seconds(job) > 0.0 ? std::max(2.0, std::ceil(ahead_seconds / segment_seconds(job))) : 2.0;
    for (int i = 0; i < tries; ++i, ahead *= 2.0) {
      if (ranks_.ask_to_stop(ranks_.passed() + static_cast<std::uint64_t>(ahead), end_of_lease())) return true;
    }
    return false;
  }

  bool do_stand_still() const {
    const Outcome<live::JobNow> now = look();
    return now && std::all_of(now->here.begin(), now->here.end(),
                              [](const live::RankNow& rank) { return rank.state == live::State::suspended; });
  }

  live::Reader reader_;
  live::Suspender ranks_;
  std::stop_token stop_;
};

Regulator regulator_of(const RegulationRequest& request, std::optional<LearnedRates> kept) {
  RegulatorSettings settings = request.settings;
  const auto metrics = static_cast<Eigen::Index>(request.metrics.size());
  if (!request.target) return Regulator(settings, metrics, std::move(kept));
  // A rate that the user names does not move.
  constexpr double never = 1e300;
  settings.calibration.averaged_testpoints = never;
  return Regulator(settings, metrics,
                   LearnedRates{.testpoints = std::uint64_t{1} << 62,
                                .rate = *request.target,
                                .products = Eigen::MatrixXd::Zero(metrics, metrics),
                                .durations = Eigen::VectorXd::Zero(metrics)});
}

RegulatedProgram program_of(const RegulationRequest& request, const live::JobNow& job) {
  RegulatedProgram program{.command = request.command, .ranks = static_cast<int>(job.ranks)};
  for (const ProgressMetric metric : request.metrics) program.metrics.emplace_back(name_of(metric));
  return program;
}

CoresOfRanks cores_of(const live::JobNow& job) {
  std::vector<pid_t> processes;
  for (const live::RankNow& rank : job.here) processes.push_back(rank.process);
  return CoresOfRanks(processes, monotonic_seconds());
}

// Looks until the job ends. After a suspension, progress counts from the first segment that has ended since.
void regulate_until_end(RegulatedJob& job, CoresOfRanks cores, const RegulationRequest& request, Regulator& regulator,
                        RegulationEnd& end, const std::stop_token& stop) {
  const RegulatorSettings& settings = request.settings;
  double resumed = 0.0;
  bool runs = false;
  while (waited(stop, between_looks)) {
    const Outcome<live::JobNow> now = job.look();
    if (!now || !now->is_alive() || !has_all_ranks(*now)) continue;
    const ProgressNow progress = progress_of(*now, request.metrics);
    if (!runs) {
      runs = progress.seconds > resumed;
      if (runs) regulator.runs(progress.seconds, progress.totals);
      if (runs) cores.waited_share(monotonic_seconds());
      continue;
    }
    if (!regulator.is_testpoint(progress.seconds, progress.totals)) continue;
    const std::optional<Regulation> regulation =
        regulator.testpoint(progress.seconds, progress.totals, cores.waited_share(monotonic_seconds()));
    if (!regulation || regulation->goes_on()) continue;
    show_step(regulation->waited_for_cpus ? "suspended: others have its cores" : "suspended: its progress is poor");
    bool stood_before = false;
    const auto goes_on = [&](double stood) {
      const double looked = monotonic_seconds();
      if (!std::exchange(stood_before, true)) cores.stand_still(looked);
      return settings.tolerance > 0.0 && stood < settings.most_suspension_seconds &&
             cores.are_wanted(looked, settings.tolerance, settings.testpoint_seconds);
    };
    const std::optional<double> stood_still = job.suspend(regulation->suspend_seconds, goes_on);
    show_step("");
    resumed = monotonic_seconds();
    runs = false;
    if (stood_still) {
      ++end.suspensions;
      if (regulation->waited_for_cpus) ++end.since_others_had_cores;
      end.suspended_seconds += *stood_still;
    } else if (!stop.stop_requested()) {
      ++end.missed;
    }
  }
}

}  // namespace

std::string_view name_of(ProgressMetric metric) {
  switch (metric) {
    case ProgressMetric::segments: return "segments";
    case ProgressMetric::message_bytes: return "messages";
    case ProgressMetric::file_bytes: break;
  }
  return "files";
}

RegulationEnd regulate_job(const RegulationRequest& request, const std::stop_token& stop) {
  give_way();
  RegulationEnd end;
  std::optional<live::Reader> reader = job_of_this_process(stop);
  if (!reader) return end;
  Outcome<live::JobNow> now = reader->read_totals();
  while (waited(stop, between_looks) && (!now || !has_all_ranks(*now))) now = reader->read_totals();
  if (!now || !has_all_ranks(*now)) return end;
  end.found_job = true;
  Outcome<live::Suspender> ranks = live::Suspender::open(reader->path());
  if (!ranks) {
    end.complaints.push_back(ranks.failure().message);
    return end;
  }
  const RegulatedProgram program = program_of(request, *now);
  const Outcome<KeptTargets> targets = KeptTargets::open();
  if (!targets) end.complaints.push_back("targets are not kept: " + targets.failure().message);
  std::optional<LearnedRates> kept;
  if (targets && !request.target) {
    Outcome<std::optional<LearnedRates>> found = targets->of(program);
    if (found) kept = std::move(*found);
    if (!found) end.complaints.push_back(found.failure().message);
  }
  Regulator regulator = regulator_of(request, std::move(kept));
  {
    RegulatedJob job(std::move(*reader), std::move(*ranks), stop);
    regulate_until_end(job, cores_of(*now), request, regulator, end, stop);
  }
  end.is_calibrated = regulator.phase() != RegulatorPhase::bootstrap;
  if (targets && !request.target && end.is_calibrated) {
    if (const Status written = targets->keep(program, regulator.targets().learned()); !written) {
      end.complaints.push_back("targets are not kept: " + written.failure().message);
    }
  }
  return end;
}

}  // namespace halcyon::cli
