#include "cli/run_and_report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "cli/commands.hpp"
#include "cli/console/progress.hpp"
#include "cli/kept/judged_file.hpp"
#include "cli/launch/host_use.hpp"
#include "cli/launch/rank_options.hpp"
#include "cli/launch/rank_side.hpp"
#include "cli/launch/recorded_run.hpp"
#include "cli/ledger/run_of_file.hpp"
#include "cli/running/watched_jobs.hpp"
#include "cli/witness/looking.hpp"
#include "libprofile/shared/output_file.hpp"
#include "libprofile/shared/spool.hpp"
#include "libprofile/system/environment.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/source_places.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

// As the user would type it.
std::string shown_path(const std::string& path) {
  std::error_code error;
  const fs::path relative = fs::path(path).lexically_relative(fs::current_path(error));
  return relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

// The user's seed, or a new one: either way it is in the profile, and the run can be repeated.
std::string injection_seed() {
  const char* given = std::getenv("INTM_SEED");
  return given != nullptr && *given != '\0' ? given : std::to_string(std::random_device{}());
}

// What is recorded, and what will disturb it from the beginning: all of it on a terminal, else only what is wrong.
void tell_first(const RunOptions& options, const Launcher& launcher, const LookAtHost& look) {
  const HostUse use = launcher.kind == Launcher::Kind::srun ? HostUse() : look.use();  // srun starts them elsewhere
  const std::string busy = use.is_busy() ? "the host is busy: " + in_words(use) : "";
  if (isatty(STDERR_FILENO) == 0) {
    if (!busy.empty()) tell(busy);
    return;
  }
  const std::string counter = options.ranks.counter.empty() || options.ranks.counter == "auto"
                                  ? "the work between them"
                                  : "work by " + options.ranks.counter;
  const std::string host = !busy.empty() ? "; " + busy : use.cpus > 0 ? "; the host is idle" : "";
  tell("recording calls of MPI and files, and " + counter + host);
}

// After it, while the run is analyzed, signals end this process as usual.
Outcome<RecordedRunEnd> record_once(const RecordedRunRequest& request, const Beside& beside, const Beside& witness) {
  SignalRelay relay;
  std::optional<ThreadBeside> thread;
  std::optional<ThreadBeside> looking;
  if (beside) thread.emplace(beside);
  if (witness) looking.emplace(witness);
  return run_recorded(request, relay);
}

// Who has the CPUs that the ranks on this host wait for.
void witness(const std::stop_token& stop, Witnessed& seen) {
  give_way();
  std::optional<Switches> switches;
  if (Outcome<Switches> opened = Switches::open()) switches.emplace(std::move(*opened));
  Witness witness(std::move(switches), getpid());
  witness.watch(stop);
  seen = in_profile(witness.seen());
}

// False if it cannot be judged, or what was asked for cannot be written.
bool tell_verdict(const std::string& file, const RunOptions& options, const Witnessed& seen) {
  std::string complaint;  // of what is kept of earlier runs: a report does not need it
  std::optional<KnownBefore> known;
  if (!options.no_baseline) known = open_known(complaint);
  show_step("analyzing " + shown_path(file));
  Outcome<JudgedFile> judged = judge_file(file, known ? &*known : nullptr, seen);
  show_step("");
  if (!judged) {
    fail(judged.failure().message);
    return false;
  }
  const std::string shown = shown_path(file);
  std::fputs(closing_lines(shown, judged->profile, judged->analysis, colour_for(STDERR_FILENO)).c_str(), stderr);
  if (known || !seen.by.empty()) {
    if (const std::string not_kept = keep(known ? &*known : nullptr, *judged, file); !not_kept.empty())
      complaint = not_kept;
  }
  if (!complaint.empty()) tell(complaint);
  if (options.json.empty() && options.html.empty()) return true;
  find_source_places(judged->profile);
  if (!options.json.empty()) {
    const nlohmann::ordered_json json = report_json(shown, judged->profile, judged->analysis);
    if (const Status written = print_result("", json, options.json); !written) {
      fail(written.failure().message);
      return false;
    }
  }
  if (options.html.empty()) return true;
  const RunOnPage page = on_page(shown, std::move(judged->profile), judged->grouping, std::move(judged->analysis));
  if (const Status written = write_file(options.html, report_html({page})); !written) {
    fail(written.failure().message);
    return false;
  }
  tell("page: " + options.html);
  return true;
}

}  // namespace

void add_run_options(const Command& command, RunOptions& options) {
  add_rank_options(command, options.ranks);
  add_json_option(command, options.json);
  add_html_option(command, options.html);
  add_no_baseline_flag(command, options.no_baseline);
  command.flag("--no-witness", options.no_witness, "Do not look who has the CPUs that ranks on this host wait for");
  command.flag("--dry-run", options.is_dry, "Print the command that would run, in shell syntax, and run nothing");
}

int run_and_report(const RunOptions& options, const Words& launch, const Beside& beside) {
  if (options.json == "-")
    return fail("standard output is the program's: write JSON into a file, or halcyon report it");
  const std::initializer_list<Written> places{
      {"-o", options.ranks.output}, {"--json", options.json}, {"--html", options.html}};
  if (const auto objection = objection_to_places(places)) return fail(*objection);
  const LookAtHost look;
  const Outcome<Launcher> launcher = launcher_to_start(launch);
  if (!launcher) return fail(launcher.failure().message);
  RankOptions ranks = options.ranks;
  std::error_code error;
  const fs::path output = fs::absolute(ranks.output.empty() ? default_output : file_of_output(ranks.output), error);
  if (error)
    return fail("the current directory is gone: change to another, or name a place with -o /DIRECTORY/FILE.h5");
  ranks.output = output.lexically_normal().string();
  // Before the run starts is the time to hear that its profile could not be written.
  if (const std::string objection = objection_to_place(ranks.output); !objection.empty()) return fail(objection);
  if (const std::string obstacle = obstacle_in_ranks(launch, *launcher, ranks.output); !obstacle.empty())
    tell(obstacle);
  RecordedRunRequest request{.command = launch, .launcher = *launcher, .options = ranks};
  if (!ranks.inject.empty()) request.injection_seed = injection_seed();
  if (options.is_dry) {
    const Outcome<std::string> command = command_line(request);
    if (!command) return fail(command.failure().message);
    const Status printed = print_text(legible(*command) + '\n');
    return printed ? int{passed} : fail(printed.failure().message);
  }
  if (options.tells_first) tell_first(options, *launcher, look);
  Witnessed seen;
  Beside looking;
  if (!options.no_witness) looking = [&seen](const std::stop_token& stop) { witness(stop, seen); };
  const Outcome<RecordedRunEnd> end = record_once(request, beside, looking);
  keep_what_was_written();
  if (!end) return fail(end.failure().message);

  // Where something went wrong, the program's own failure says more than the missing profile.
  const int failed = end->status != 0 ? end->status : int{bad_usage_or_file};
  if (!end->profile) {
    fail((end->status != 0 ? fmt::format("no profile was written: the launch command ended with status {}", end->status)
                           : no_profile_words(launch, ranks.output)) +
         "; " + check_words(launch));
    return failed;
  }
  std::string file = *end->profile;
  if (end->is_of_parts) {
    std::optional<Recovered> recovered = recover_run(file, ranks.output, end->has_other_hosts);
    if (!recovered) {
      fail("the run left parts in place of a profile; to make a profile of what it recorded: halcyon recover " +
           as_typed({shown_path(file)}));
      return failed;
    }
    file = recovered->profile;
    recovered->profile = shown_path(file);
    tell(recovered_line(*recovered));
    // The ranks have put a run that reached MPI_Finalize into the spool by themselves.
    if (const char* const spool = environment_value("HALCYON_LEDGER"); spool != nullptr && spool != spool::not_wanted) {
      if (const Outcome<std::string> row = put_into_spool(file, spool); !row) tell(row.failure().message);
    }
    if (end->has_other_hosts && recovered->ranks_found < recovered->ranks) {
      const std::string parts = shown_path(*end->profile);
      tell("ranks on other hosts may have left their parts there; to have these in the profile, gather them in " +
           parts + " and type: halcyon recover -o FILE.h5 " + as_typed({parts}));
    }
  }
  if (!fs::exists(file, error)) {
    fail("the ranks wrote " + file + ", which is not there now: they see other directories, or it was removed");
    return failed;
  }
  try {
    if (tell_verdict(file, options, seen)) return end->status;
  } catch (const std::exception& exception) {
    show_step("");
    fail("the profile is " + shown_path(file) + ", and cannot be judged here: " + words_of(exception));
  }
  return failed;
}

}  // namespace halcyon::cli
