// halcyon watch: running jobs, by what their ranks publish in their live records.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/console/quantity.hpp"
#include "cli/console/terminal.hpp"
#include "cli/launch/end_job.hpp"
#include "cli/launch/signal_relay.hpp"
#include "cli/running/publishing.hpp"
#include "cli/running/watch_condition.hpp"
#include "cli/running/watched_jobs.hpp"
#include "libprofile/system/nanoseconds.hpp"
#include "report/json.hpp"
#include "report/live.hpp"
#include "report/live_screen.hpp"

namespace halcyon::cli {
namespace {

constexpr double once_seconds = 1.2;  // between the two looks of a snapshot; a rate needs 0.9 s between boundaries
constexpr double seconds_between_lines = 10.0;
constexpr std::array<double, 4> delays{1.0, 2.0, 5.0, 10.0};

struct WatchOptions {
  std::string job;
  int process = 0;
  bool all = false;
  std::string publish;
  std::string from;
  bool once = false;
  std::string json;
  std::string openmetrics;
  std::vector<std::string> warn_if;
  std::vector<std::string> stop_if;
};

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Outcome<std::vector<Condition>> conditions_of(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<Condition> conditions;
  for (const std::string& text : texts) {
    Outcome<Condition> condition = parse_condition(text);
    if (!condition) return Failure{option + ": " + condition.failure().message};
    conditions.push_back(*condition);
  }
  return conditions;
}

/// The looks at the jobs, and what follows from them beside what is shown.
class Watch {
 public:
  Watch(WatchedJobs jobs, std::vector<Condition> warn_if, std::vector<Condition> stop_if, std::string openmetrics)
      : jobs_(std::move(jobs)),
        warn_if_(std::move(warn_if)),
        stop_if_(std::move(stop_if)),
        openmetrics_(std::move(openmetrics)) {}

  /// Looks once more, and keeps the lines that are to be told.
  Status look() {
    if (Status looked = jobs_.look(); !looked) return looked;
    for (const std::string& complaint : jobs_.complaints()) told_.push_back(complaint);
    for (std::size_t i = 0; i < views().size(); ++i) look_at_conditions(i);
    return openmetrics_.empty() ? Status(Done{}) : write_file(openmetrics_, jobs_openmetrics(views()));
  }

  const std::vector<JobView>& views() const { return jobs_.views(); }
  bool has_stopped_a_job() const { return has_stopped_; }
  /// The last line that is to be told; none if it is empty.
  std::string last_told() const { return told_.empty() ? std::string() : told_.back(); }
  std::vector<std::string> take_told() { return std::exchange(told_, {}); }

 private:
  struct Conditions {
    std::string job;
    std::vector<ConditionWatch> warn;
    std::vector<ConditionWatch> stop;
  };

  Conditions& conditions_of_job(const std::string& job) {
    const auto known = std::find_if(conditions_.begin(), conditions_.end(),
                                    [&job](const Conditions& conditions) { return conditions.job == job; });
    if (known != conditions_.end()) return *known;
    Conditions conditions{.job = job};
    for (const Condition& condition : warn_if_) conditions.warn.emplace_back(condition);
    for (const Condition& condition : stop_if_) conditions.stop.emplace_back(condition);
    return conditions_.emplace_back(std::move(conditions));
  }

  void look_at_conditions(std::size_t index) {
    const JobView& job = views()[index];
    if (job.state == JobState::ended) return;
    Conditions& conditions = conditions_of_job(job.job);
    const auto what = [&job](const Condition& condition) {
      return fmt::format("job {}: {}: {}", job.job, text_of(condition), value_text(condition.watched, job));
    };
    for (ConditionWatch& watch : conditions.warn) {
      if (watch.look(job)) told_.push_back(what(watch.condition()));
    }
    for (ConditionWatch& watch : conditions.stop) {
      if (!watch.look(job)) continue;
      const std::vector<pid_t> ranks = jobs_.ranks_of(index);
      if (ranks.empty()) {
        told_.push_back(what(watch.condition()) +
                        "; the job continues, since none of its ranks runs on this host: use " +
                        "--stop-if on one of " + hosts_words(job));
        continue;
      }
      has_stopped_ = true;
      const bool has_ended = end_job(ranks);
      told_.push_back(what(watch.condition()) + (has_ended ? "; the job was ended" : "; the job could not be ended"));
    }
  }

  WatchedJobs jobs_;
  std::vector<Condition> warn_if_;
  std::vector<Condition> stop_if_;
  std::string openmetrics_;
  std::vector<Conditions> conditions_;
  bool has_stopped_ = false;
  std::vector<std::string> told_;
};

void tell_all(Watch& watch) {
  for (const std::string& line : watch.take_told()) tell(line);
}

int no_such_job(const WatchOptions& options) {
  if (!options.from.empty()) {
    const std::string which = options.job.empty() ? "no running job" : "no running job '" + options.job + "'";
    return fail(options.from + " has " + which + ": start halcyon watch --publish " + options.from +
                " on each host of the job");
  }
  const std::string remedy =
      options.job.empty() && options.process == 0
          ? "start it with: halcyon run -- mpirun -np 4 ./app"
          : "halcyon watch --all shows those that have one; halcyon run starts a program with one";
  const std::string who = !options.job.empty() ? "no job '" + options.job + "' with a live record runs here"
                          : options.process != 0
                              ? fmt::format("process {} has no ranks with a live record", options.process)
                              : std::string("no job of yours with a live record runs on this host");
  return fail(who + ": " + remedy);
}

bool is_over(const Watch& watch, const WatchOptions& options) {
  return !options.all && std::all_of(watch.views().begin(), watch.views().end(),
                                     [](const JobView& job) { return job.state == JobState::ended; });
}

Status print_jobs(const Watch& watch, const WatchOptions& options) {
  const std::string text = options.openmetrics == "-" ? jobs_openmetrics(watch.views()) : jobs_text(watch.views());
  return print_result(text, jobs_json(watch.views()), options.json);
}

int watch_once(Watch& watch, const WatchOptions& options) {
  poll(nullptr, 0, static_cast<int>(1e3 * once_seconds));
  if (const Status looked = watch.look(); !looked) return fail(looked.failure().message);
  tell_all(watch);
  const Status printed = print_jobs(watch, options);
  if (!printed) return fail(printed.failure().message);
  return watch.has_stopped_a_job() ? negative_answer : passed;
}

// Without a terminal: a line for each job from time to time, on standard error where standard output has the JSON.
int watch_in_lines(Watch& watch, const WatchOptions& options) {
  double next_line = 0.0;
  for (;;) {
    tell_all(watch);
    const bool ends = is_over(watch, options) || watch.has_stopped_a_job();
    if (monotonic_seconds() >= next_line || ends) {
      for (const JobView& job : watch.views()) tell(job_line(job));
      next_line = monotonic_seconds() + seconds_between_lines;
    }
    if (ends) break;
    poll(nullptr, 0, static_cast<int>(1e3 * delays.front()));
    if (const Status looked = watch.look(); !looked) return fail(looked.failure().message);
  }
  return watch.has_stopped_a_job() ? negative_answer : passed;
}

/// What the keys change.
struct Shown {
  Screen screen;
  std::string chosen;  // job
  std::size_t delay = 0;

  void press(Key key, const std::vector<JobView>& jobs) {
    const auto at = std::find_if(jobs.begin(), jobs.end(), [this](const JobView& job) { return job.job == chosen; });
    const auto index = at == jobs.end() ? std::size_t{0} : static_cast<std::size_t>(at - jobs.begin());
    switch (key) {
      case Key::up:
        if (index > 0) chosen = jobs[index - 1].job;
        break;
      case Key::down:
        if (index + 1 < jobs.size()) chosen = jobs[index + 1].job;
        break;
      case Key::sort:
        screen.order = static_cast<JobOrder>((static_cast<std::size_t>(screen.order) + 1) % job_order_names.size());
        break;
      case Key::delay: delay = (delay + 1) % delays.size(); break;
      case Key::help: screen.shows_help = !screen.shows_help; break;
      case Key::quit:
      case Key::none: break;
    }
  }

  void show(const Terminal& terminal, std::vector<JobView>& jobs) {
    sort_jobs(jobs, screen.order);
    const auto at = std::find_if(jobs.begin(), jobs.end(), [this](const JobView& job) { return job.job == chosen; });
    screen.chosen = at == jobs.end() ? 0 : static_cast<std::size_t>(at - jobs.begin());
    if (!jobs.empty()) chosen = jobs[screen.chosen].job;
    const TerminalSize size = terminal.size();
    screen.columns = size.columns;
    screen.rows = size.rows;
    screen.delay_seconds = delays[delay];
    screen.time = time_of_day();
    terminal.show(live_screen(jobs, screen));
  }
};

struct EndOfView {
  int signal = 0;  // that asked for it
  std::string failure;
};

EndOfView watch_on_terminal(Watch& watch, const WatchOptions& options) {
  Terminal terminal(STDIN_FILENO, STDOUT_FILENO);
  Shown shown;
  shown.screen.colour = colour_for(STDOUT_FILENO);
  std::vector<JobView> jobs = watch.views();
  double next_look = monotonic_seconds() + delays.front();
  for (;;) {
    shown.screen.message = watch.last_told();
    shown.show(terminal, jobs);
    if (is_over(watch, options) || watch.has_stopped_a_job()) return {};
    const TerminalEvent event = terminal.wait(std::max(0.0, next_look - monotonic_seconds()));
    if (event.asked_to_end != 0) return {.signal = event.asked_to_end};
    if (event.key == Key::quit) return {};
    shown.press(event.key, jobs);
    if (monotonic_seconds() < next_look) continue;
    next_look = monotonic_seconds() + delays[shown.delay];
    if (const Status looked = watch.look(); !looked) return {.failure = looked.failure().message};
    jobs = watch.views();
  }
}

bool names_a_job(const WatchOptions& options) { return !options.job.empty() || options.process != 0; }

// Which options make no sense together.
std::optional<std::string> objection_to(const WatchOptions& options) {
  if (options.all && names_a_job(options)) {
    return "--all watches every job: leave it out, or leave out the job";
  }
  if (!options.publish.empty() && !options.from.empty()) {
    return "--publish is for the hosts of the job, and --from is for watching them: leave out one";
  }
  const bool shows_something = options.once || !options.json.empty() || !options.openmetrics.empty() ||
                               !options.warn_if.empty() || !options.stop_if.empty();
  if (!options.publish.empty() && shows_something) {
    return "--publish shows and judges nothing: give --once, --json, --openmetrics, --warn-if and --stop-if to "
           "halcyon watch --from " +
           options.publish;
  }
  if (!options.from.empty() && options.process != 0) {
    return "--pid names a process of this host: with --from, name the job";
  }
  if (!options.stop_if.empty() && !options.all && !names_a_job(options) && options.from.empty()) {
    return "--stop-if ends jobs: name the JOB, or add --all if each of yours may be ended";
  }
  if (!options.json.empty() && !options.once) return "--json shows one snapshot: add --once";
  if (options.openmetrics == "-" && !options.once) return "--openmetrics - shows one snapshot: add --once";
  return objection_to_places({{"--json", options.json}, {"--openmetrics", options.openmetrics}});
}

int publish(const WatchOptions& options) {
  give_way();
  const Status published =
      publish_jobs({.job = options.job, .process = options.process}, options.publish, options.all, tell);
  return published ? int{passed} : fail(published.failure().message);
}

int watch(const WatchOptions& options) {
  // What is wrong within an option comes before what is missing beside it.
  const Outcome<std::vector<Condition>> warn_if = conditions_of("--warn-if", options.warn_if);
  if (!warn_if) return fail(warn_if.failure().message);
  const Outcome<std::vector<Condition>> stop_if = conditions_of("--stop-if", options.stop_if);
  if (!stop_if) return fail(stop_if.failure().message);
  if (const std::optional<std::string> objection = objection_to(options)) return fail(*objection);
  if (!options.publish.empty()) return publish(options);

  give_way();
  const WhichJobs which{.job = options.job, .process = options.process};
  Watch watch(options.from.empty() ? WatchedJobs(which) : WatchedJobs(which, options.from), *warn_if, *stop_if,
              options.openmetrics == "-" ? "" : options.openmetrics);
  if (const Status looked = watch.look(); !looked) return fail(looked.failure().message);
  if (watch.views().empty() && !options.from.empty()) {
    // Where clocks differ, only a second look tells what is replaced.
    poll(nullptr, 0, static_cast<int>(1e3 * once_seconds));
    if (const Status looked = watch.look(); !looked) return fail(looked.failure().message);
  }
  if (watch.views().empty() && !options.all) {
    const std::vector<std::string> told = watch.take_told();
    for (const std::string& line : told) tell(line);
    // What cannot be read may be what was meant, if no job was named.
    return told.empty() || names_a_job(options) ? no_such_job(options) : int{bad_usage_or_file};
  }
  if (options.once) return watch_once(watch, options);
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return watch_in_lines(watch, options);
  const EndOfView end = watch_on_terminal(watch, options);
  tell_all(watch);
  if (end.signal != 0) end_by(end.signal);
  if (!end.failure.empty()) return fail(end.failure);
  if (is_over(watch, options)) {
    for (const JobView& job : watch.views()) tell(job_line(job));
  }
  return watch.has_stopped_a_job() ? negative_answer : passed;
}

}  // namespace

void add_watch(const Command& program) {
  const Command command = program.subcommand("watch", "Show running jobs: how fast they are, and what disturbs them");
  auto options = std::make_shared<WatchOptions>();
  command.option("JOB", options->job, "The job, as the first column of the view names it. Default: all of yours");
  command.option("--pid", options->process, "The job that this process belongs to: a rank, mpirun or halcyon run")
      .placeholder("PID")
      .from_to(1, 1 << 22);
  command.flag("--all", options->all, "All jobs of yours on this host, also those that start later");
  command
      .option("--publish", options->publish,
              "On each host of a job: write the state of its ranks to DIR each second, until they have ended")
      .placeholder("DIR");
  command.option("--from", options->from, "Show the jobs that --publish writes to DIR, with their ranks on all hosts")
      .placeholder("DIR");
  command.flag("--once", options->once, "Wait a second, print the state, and end");
  add_json_option(command, options->json);
  add_openmetrics_option(command, options->openmetrics);
  command.option("--warn-if", options->warn_if, "Print one message when this has become true, see below")
      .placeholder("EXPR")
      .repeatable();
  command.option("--stop-if", options->stop_if, "End the job when this has become true; the exit status is then 3")
      .placeholder("EXPR")
      .repeatable();
  command.notes(
      "EXPR is NAME > VALUE or NAME < VALUE. With 'for TIME' at its end, it must be true for this time, at each look.\n"
      "interference is that of the run so far, in percent; its whole 90 % interval must be beyond the value. rate is\n"
      "the progress now, in percent of the usual. standstill is the time since the last boundary, in seconds.\n"
      "Keys: q quits, arrows or j and k choose a job, s sorts, d changes the delay, h shows help. Without a terminal\n"
      "it prints a line every 10 s. --json, and --openmetrics to\n"
      "standard output, need --once; --openmetrics FILE is replaced at each look, for node_exporter. It ends with the "
      "job, or with the last one if none is named, but not with --all.\n"
      "Exit status: 3 a job was ended by --stop-if.\n"
      "Examples:\n"
      "  halcyon watch\n"
      "  srun --overlap --ntasks-per-node=1 halcyon watch --publish live & halcyon watch --from live\n"
      "  halcyon watch --once --json -\n"
      "  halcyon watch --pid $(pgrep -n mpirun) --stop-if 'interference > 30% for 60s'");
  command.does([options] { return watch(*options); });
}

}  // namespace halcyon::cli
