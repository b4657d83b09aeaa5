// How results change when one constant of the analyzer changes. Only bench/constants.py builds this, in a copy of the
// tree whose constants can be set, and calls it.
//
// Every run is judged with all constants at their values first. Then a child process for each constant and factor
// judges those runs again that read it. Prints one CSV line for each.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/estimate/cells.hpp"
#include "analyzer/estimate/duration_law.hpp"
#include "analyzer/estimate/estimators.hpp"
#include "analyzer/estimate/explain.hpp"
#include "analyzer/estimate/judged_durations.hpp"
#include "analyzer/judge/analysis.hpp"
#include "analyzer/known/known_displacement.hpp"
#include "bench/laws.hpp"
#include "bench/tuned.hpp"
#include "libprofile/format/profile_reader.hpp"
#include "tests/truth/truth.hpp"

namespace halcyon {

// What takes most of the time of an analysis, kept by what it is made of: so it is made again only if a constant
// changes that, or is one of those that it depends on itself. The copy of the analyzer asks here.
template <class Value>
class Kept {
 public:
  bool looks_up = false;  // else it only keeps

  template <class Make>
  Value get(const std::string& key, const Make& make) {
    if (looks_up) {
      const std::lock_guard alone(change_);
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
    }
    Value made = make();
    const std::lock_guard alone(change_);
    return values_.insert_or_assign(key, std::move(made)).first->second;
  }

 private:
  std::mutex change_;
  std::map<std::string, Value> values_;
};

struct AllKept {
  std::unique_ptr<DurationLaws> laws = std::make_unique<DurationLaws>();
  Kept<std::vector<Explanation>> explanations;
  Kept<RunEstimate> estimates;
  Kept<std::vector<double>> spectra;
  Kept<Grouping> groupings;
};

AllKept& kept() {
  static auto& only = *new AllKept;
  return only;
}

template <class T>
void add(std::string& key, const std::vector<T>& values) {
  key += fmt::format("{};", values.size());
  key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::vector<Explanation> kept_explanations(const Cells& cells, double wide_jitter, bool may_be_two_kinds) {
  std::string key;
  add(key, cells.edges);
  add(key, cells.counts);
  add(key, std::vector{cells.segments, cells.mean, cells.finest, cells.low, cells.middle, wide_jitter,
                       may_be_two_kinds ? 1.0 : 0.0});
  return kept().explanations.get(key, [&] { return explain(cells, *kept().laws, wide_jitter, may_be_two_kinds); });
}

RunEstimate estimate_compound(const JudgedDurations& run, Detail detail, DurationLaws& laws);

RunEstimate kept_estimate(const JudgedDurations& run, Detail detail) {
  std::string key;
  for (const std::vector<float>* const column : {&run.durations, &run.ascending, &run.beyond_usual, &run.surely_lost,
                                                 &run.slow_ranks, &run.work, &run.largest_work, &run.slowness}) {
    add(key, *column);
  }
  add(key, run.begin);
  add(key, run.calls);
  add(key, run.perhaps_slow);
  add(key, std::vector{run.slow_ranks_interval.low, run.slow_ranks_interval.high, run.run_time,
                       static_cast<double>(run.speed_pattern), static_cast<double>(detail),
                       static_cast<double>(run.work_is_time), static_cast<double>(run.is_on_several_hosts)});
  return kept().estimates.get(key, [&] { return estimate_compound(run, detail, *kept().laws); });
}

std::vector<double> kept_spectrum(std::vector<double> bins, std::size_t lines,
                                  std::vector<double> (*spectrum)(std::vector<double>, std::size_t)) {
  std::string key = fmt::format("{};", lines);
  add(key, bins);
  return kept().spectra.get(key, [&] { return spectrum(bins, lines); });
}

namespace {

// Of one profile in memory.
Grouping kept_grouping(const Profile& profile) {
  return kept().groupings.get(fmt::format("{}", static_cast<const void*>(&profile)),
                              [&] { return group_segments(profile); });
}

bool is_of(std::string_view key, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return key.starts_with(beginning); });
}

// What does not depend on a constant is taken from what was kept: as the list of who knows whom in CONTRIBUTING.md
// says.
bool makes_all_anew = false;  // to check that this is so

void keep_what_is_not_of(std::string_view key) {
  if (makes_all_anew) {
    kept().laws = std::make_unique<DurationLaws>();
    return;
  }
  AllKept& all = kept();
  if (is_of(key, {"analyzer/estimate/duration_law."})) all.laws = std::make_unique<DurationLaws>();
  // What explain() includes.
  all.explanations.looks_up =
      !is_of(key, {"analyzer/estimate/duration_law.", "analyzer/estimate/law_lattice.", "analyzer/estimate/law_fit.",
                   "analyzer/estimate/explain.", "analyzer/estimate/jitter_prior.", "analyzer/estimate/cells.",
                   "analyzer/estimate/other_work."});
  all.estimates.looks_up = !is_of(key, {"analyzer/estimate/", "analyzer/groups/"});
  all.spectra.looks_up = !is_of(key, {"analyzer/attribution/time_pattern."});
  all.groupings.looks_up = !is_of(key, {"analyzer/groups/"});
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Run {
  std::string name;
  Profile profile;
  std::vector<const Profile*> earlier;  // of the same work, known to it
  std::optional<double> truth;          // percent
};

// What is compared. Plain, since it comes through a pipe.
struct Result {
  Verdict verdict = Verdict::unknown;
  double estimate = 0.0;
  double low = 0.0;
  double high = 0.0;
  std::size_t cause = 0;  // and what follows: hashes
  std::size_t warnings = 0;
  std::size_t phases = 0;
  std::size_t whose = 0;  // what else is told: slow ranks, other methods, baselines
};

// Numbers that differ by rounding only are the same.
std::string rounded(double value) { return fmt::format("{:.3g};", value); }

std::size_t hash_of(const std::string& text) { return std::hash<std::string>{}(text); }

Result result_of(const Run& run) {
  std::optional<KnownWork> known;
  for (const Profile* const profile : run.earlier) {
    const Grouping grouping = kept_grouping(*profile);
    const bool is_other_work = known && !displacement_from(*profile, grouping, *known);
    if (is_other_work || !is_learnt_from(*profile, true)) continue;
    known = known ? with_run(std::move(*known), *profile, grouping) : known_by(*profile, grouping);
  }
  const Grouping grouping = kept_grouping(run.profile);
  std::optional<Analysis> analysis;
  if (known) {
    Profile profile = run.profile;
    profile.known_runs = displacement_from(profile, grouping, *known);
    analysis = analyze(profile, grouping, methods.front().name);
  } else {
    analysis = analyze(run.profile, grouping, methods.front().name);
  }
  const MethodResult& method = analysis->result();
  std::string warnings, phases, other;
  for (const Warning& warning : analysis->warnings) warnings += warning.code + ";";
  if (analysis->no_verdict) warnings += analysis->no_verdict->reason.code;
  if (const std::optional<Phases>& found = analysis->phases) {
    phases = rounded(found->stable_from_seconds) + rounded(found->stable_to_seconds);
    for (const LevelChange& change : found->changes) phases += rounded(change.from_seconds) + rounded(change.factor);
  }
  for (const MethodResult& each : analysis->methods) other += rounded(each.interference_percent);
  for (const double kind : analysis->breakdown.kinds) other += rounded(kind);
  for (const JudgedGroup& group : analysis->judged) other += rounded(group.threshold_seconds);
  other += rounded(analysis->undecided.seconds()) + rounded(analysis->slow_percent);
  return {.verdict = method.verdict,
          .estimate = method.interference_percent,
          .low = method.interval_percent.low,
          .high = method.interval_percent.high,
          .cause = hash_of(analysis->cause ? std::string(analysis->cause->code) : ""),
          .warnings = hash_of(warnings),
          .phases = hash_of(phases),
          .whose = hash_of(other)};
}

class Runs {
 public:
  /// Fewer, longer segments where a law draws more: what a run shows hardly grows with their number.
  void add_laws(const std::vector<bench::Law>& laws, std::size_t draws, std::uint64_t seed, std::size_t most_segments) {
    bench::Draw draw{std::mt19937_64(seed)};
    for (std::size_t i = 0; i < draws; ++i) {
      for (const bench::Law& law : laws) {
        truth::Run drawn = law.draw(draw);
        if (drawn.segments > most_segments) {
          const double longer = static_cast<double>(drawn.segments) / static_cast<double>(most_segments);
          for (truth::Phase& phase : drawn.phases) phase.seconds *= longer;
          drawn.segments = most_segments;
        }
        truth::Truth truth = truth::make_truth(drawn);
        runs_.push_back({std::string(law.name), std::move(truth.profile), {}, truth.interference_percent});
        if (runs_.size() % one_is_known_of != 0) continue;
        runs_.push_back(runs_.back());
        runs_.back().name += ", known";
        drawn.hits = drawn.slowdown = 0.0;
        for (std::size_t run = 0; run < known_runs; ++run) {
          ++drawn.seed;
          earlier_.push_back(truth::make_truth(drawn).profile);
          runs_.back().earlier.push_back(&earlier_.back());
        }
      }
    }
  }

  void add_stored(const std::vector<std::string>& files) {
    std::map<std::filesystem::path, std::vector<const Profile*>> by_directory;
    for (const std::string& file : files) {
      Outcome<Profile> profile = read_profile(file, Columns::analyzed);
      if (!profile) {
        fmt::print(stderr, "{}\n", profile.failure().message);
        continue;
      }
      ++stored_;
      std::vector<const Profile*>& earlier = by_directory[std::filesystem::path(file).parent_path()];
      runs_.push_back({file, std::move(*profile), {}, std::nullopt});
      const Profile* const stored = &runs_.back().profile;
      if (!earlier.empty() && is_same_work(known_by(*stored, group_segments(*stored)),
                                           known_by(*earlier.back(), group_segments(*earlier.back())))) {
        const std::size_t known = std::min(earlier.size(), known_runs);
        runs_.push_back(
            {file + ", known", *stored, std::vector(earlier.end() - static_cast<long>(known), earlier.end()), {}});
      }
      earlier.push_back(stored);
    }
  }

  const std::deque<Run>& all() const { return runs_; }
  std::size_t stored() const { return stored_; }

 private:
  static constexpr std::size_t one_is_known_of = 4;
  static constexpr std::size_t known_runs = 2;

  std::deque<Run> runs_;  // others refer to them
  std::deque<Profile> earlier_;
  std::size_t stored_ = 0;
};

// Results at the constants' values, and which runs read which constants, also by way of others.
struct Base {
  std::vector<Result> results;
  std::map<std::string, std::vector<std::size_t>> readers;
  double seconds = 0.0;
};

Base judge_all(const std::deque<Run>& runs) {
  Base base;
  std::vector<std::vector<std::size_t>> read(runs.size());
  const auto began = Clock::now();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    read[i] = read_by([&] { base.results.push_back(result_of(runs[i])); });
  }
  base.seconds = seconds_since(began);
  find_what_is_made_of_what();
  const Tuning& all = tuning();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::set<std::size_t> found(read[run].begin(), read[run].end());
    for (std::size_t i = all.count; i-- > 0;) {  // what a value is made of came before it
      const bool is_of_laws = is_of(all.values[i]->key, {"analyzer/estimate/duration_law."});
      if (is_of_laws) found.insert(i);  // kept tables hide that they are read
      if (found.contains(i)) found.insert(all.values[i]->made_of.begin(), all.values[i]->made_of.end());
    }
    for (const std::size_t i : found) base.readers[all.values[i]->key].push_back(run);
  }
  return base;
}

struct Task {
  std::string key;
  double factor = 1.0;
};

struct Child {
  Task task;
  pid_t process = 0;
  int results = -1;  // to read
};

Child start(const Task& task, const std::deque<Run>& runs, const Base& base, unsigned most_seconds) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process < 0) std::exit(1);
  if (process > 0) {
    close(ends[1]);
    return {task, process, ends[0]};
  }
  // A constant may make a loop endless. Of CPU time: a child may be stopped, or get little of a busy machine.
  const rlimit most{.rlim_cur = most_seconds, .rlim_max = most_seconds};
  setrlimit(RLIMIT_CPU, &most);
  set_tuned(task.key, task.factor);
  keep_what_is_not_of(task.key);
  std::vector<Result> results;
  for (const std::size_t run : base.readers.at(task.key)) results.push_back(result_of(runs[run]));
  const char* left = reinterpret_cast<const char*>(results.data());
  std::size_t bytes = results.size() * sizeof(Result);
  while (bytes > 0) {
    const ssize_t written = write(ends[1], left, bytes);
    if (written <= 0) _exit(1);
    left += written;
    bytes -= static_cast<std::size_t>(written);
  }
  _exit(0);
}

double mean_error(const std::deque<Run>& runs, const std::vector<Result>& results) {
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].truth) continue;
    sum += std::abs(*runs[i].truth - results[i].estimate);
    count += 1.0;
  }
  return count > 0.0 ? sum / count : 0.0;
}

// The child's results, as a line.
void finish(const Child& child, const std::deque<Run>& runs, const Base& base, bool tells_runs) {
  const auto found = base.readers.find(child.task.key);
  const std::vector<std::size_t> readers = found == base.readers.end() ? std::vector<std::size_t>{} : found->second;
  std::vector<Result> read(readers.size());
  std::size_t bytes = 0;
  while (bytes < read.size() * sizeof(Result)) {
    const ssize_t part =
        ::read(child.results, reinterpret_cast<char*>(read.data()) + bytes, read.size() * sizeof(Result) - bytes);
    if (part <= 0) break;
    bytes += static_cast<std::size_t>(part);
  }
  int status = 0;
  if (child.process > 0) {
    close(child.results);
    waitpid(child.process, &status, 0);
  }
  const bool failed = bytes < read.size() * sizeof(Result);
  std::vector<Result> results = base.results;
  if (!failed) {
    for (std::size_t i = 0; i < readers.size(); ++i) results[readers[i]] = read[i];
  }
  std::size_t verdicts = 0, numbers = 0, small = 0, intervals = 0, causes = 0, warnings = 0, phases = 0, others = 0;
  double most = 0.0, most_of_ends = 0.0, width = 0.0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& now = results[i];
    const Result& then = base.results[i];
    const double moved = std::abs(now.estimate - then.estimate);
    const double ends = std::max(std::abs(now.low - then.low), std::abs(now.high - then.high));
    verdicts += now.verdict != then.verdict;
    numbers += moved > 1.0;
    small += moved > 0.1;
    intervals += ends > 1.0;
    causes += now.cause != then.cause;
    warnings += now.warnings != then.warnings;
    phases += now.phases != then.phases;
    others += now.whose != then.whose;
    most = std::max(most, moved);
    most_of_ends = std::max(most_of_ends, ends);
    width += ((now.high - now.low) - (then.high - then.low)) / static_cast<double>(results.size());
    if (tells_runs && (moved > 0.1 || now.verdict != then.verdict)) {
      fmt::print(stderr, "{} × {}: {}: {} {:.2f} → {} {:.2f}\n", child.task.key, child.task.factor, runs[i].name,
                 name_of(then.verdict), then.estimate, name_of(now.verdict), now.estimate);
    }
  }
  fmt::print("{},{},{},{},{},{},{},{:.3f},{},{:.3f},{:+.3f},{:+.4f},{},{},{},{},{}\n", child.task.key,
             child.task.factor, results.size(), readers.size(), verdicts, numbers, small, most, intervals, most_of_ends,
             width, mean_error(runs, results) - mean_error(runs, base.results), causes, warnings, phases, others,
             failed ? fmt::format("failed ({})", status) : "");
  std::fflush(stdout);
}

void do_all(const std::vector<Task>& tasks, const std::deque<Run>& runs, const Base& base, std::size_t jobs,
            bool tells_runs) {
  constexpr double told_every_seconds = 10.0;
  const auto most_seconds = static_cast<unsigned>(60.0 + 20.0 * base.seconds);
  std::deque<Child> running;
  const auto began = Clock::now();
  double told = 0.0;
  std::size_t done = 0;
  const auto finish_first = [&] {
    finish(running.front(), runs, base, tells_runs);
    running.pop_front();
    ++done;
    const double passed = seconds_since(began);
    if (passed - told < told_every_seconds) return;
    told = passed;
    fmt::print(stderr, "{} of {}, {:.0f} s left\n", done, tasks.size(),
               passed / static_cast<double>(done) * static_cast<double>(tasks.size() - done));
  };
  for (const Task& task : tasks) {
    if (!base.readers.contains(task.key)) {
      finish({.task = task}, runs, base, tells_runs);
      ++done;
      continue;
    }
    if (running.size() == jobs) finish_first();
    running.push_back(start(task, runs, base, most_seconds));
  }
  while (!running.empty()) finish_first();
}

}  // namespace
}  // namespace halcyon

int main(int argc, char** argv) {
  using namespace halcyon;
  CLI::App app{"How results change when one constant changes, as CSV."};
  std::size_t draws = 1;
  std::uint64_t seed = 2018;
  std::size_t most_segments = 4000;
  std::size_t jobs = 2;
  bool only_base = false, tells_runs = false;
  std::vector<double> factors{0.8, 1.2};
  std::vector<std::string> keys, files;
  std::string list;
  app.add_option("--draws", draws, "Runs of each law")->capture_default_str();
  app.add_option("--seed", seed, "Of the draws")->capture_default_str();
  app.add_option("--most-segments", most_segments, "Of a law's run")->capture_default_str();
  app.add_option("--jobs", jobs, "Processes at the same time")->capture_default_str();
  app.add_option("--factors", factors, "Of the constants")->delimiter(',')->capture_default_str();
  app.add_flag("--base", only_base, "Print the results of the runs at the constants' values instead");
  app.add_flag("--anew", makes_all_anew,
               "Keep nothing from run to run: takes several times as long, and changes nothing");
  app.add_flag("--tell-runs", tells_runs, "Say on standard error which runs change");
  app.add_option("--key", keys, "Of a constant, again and again");
  app.add_option("--files", list, "A file that names stored profiles, one a line");
  CLI11_PARSE(app, argc, argv);
  if (std::FILE* const from = list.empty() ? nullptr : std::fopen(list.c_str(), "r")) {
    char line[4096];
    while (std::fgets(line, sizeof line, from) != nullptr) {
      files.emplace_back(line);
      while (!files.back().empty() && files.back().back() == '\n') files.back().pop_back();
    }
    std::fclose(from);
  }

  Runs runs;
  const auto began = Clock::now();
  runs.add_laws(bench::reported_laws, draws, seed, most_segments);
  runs.add_laws(bench::calibration_laws, draws, seed, most_segments);
  runs.add_stored(files);
  const double making = seconds_since(began);
  const Base base = judge_all(runs.all());
  fmt::print(stderr, "{} runs, {} of them stored, made in {:.0f} s, judged in {:.0f} s; {} constants read\n",
             runs.all().size(), runs.stored(), making, base.seconds, base.readers.size());
  if (only_base) {
    for (std::size_t i = 0; i < runs.all().size(); ++i) {
      const Result& result = base.results[i];
      fmt::print("\"{}\",{},{:.10g},{:.10g},{:.10g},{},{},{},{}\n", runs.all()[i].name, name_of(result.verdict),
                 result.estimate, result.low, result.high, result.cause, result.warnings, result.phases, result.whose);
    }
    return 0;
  }
  std::vector<Task> tasks;
  for (const std::string& key : keys) {
    for (const double factor : factors) tasks.push_back({key, factor});
  }
  do_all(tasks, runs.all(), base, std::max<std::size_t>(1, jobs), tells_runs);
  return 0;
}
