#include "cli/launch/recorded_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "cli/launch/program_finding.hpp"
#include "cli/launch/rank_side.hpp"
#include "cli/launch/temporary_file.hpp"
#include "libprofile/shared/receipt.hpp"
#include "libprofile/shared/setting_values.hpp"
#include "libprofile/system/shortened.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

std::string new_run_id() { return std::to_string(std::random_device{}()) + "." + std::to_string(getpid()); }

// Directories on this host, the best first. None is that of the profile, which may be full, or vanish.
Words places_here() {
  const char* temporary = std::getenv("TMPDIR");
  Words places{"/dev/shm"};
  if (temporary != nullptr && *temporary == '/') places.emplace_back(temporary);
  places.emplace_back("/tmp");
  return places;
}

// The first is where any rank on this host finds it. All in the order in which ranks look for them.
using Receipts = std::vector<TemporaryFile>;

Outcome<Receipts> make_receipts(const std::string& output, const std::string& run_id) {
  Receipts receipts;
  std::string failure;
  const auto make_in = [&](const fs::path& directory) {
    remove_abandoned(directory, beginning_of_receipt, end_of_receipt);
    Outcome<TemporaryFile> made = TemporaryFile::make(receipt_in(directory, run_id), receipt_size);
    if (made) {
      receipts.push_back(std::move(*made));
    } else if (failure.empty()) {
      failure = made.failure().message;
    }
    return static_cast<bool>(made);
  };
  const Words places = places_here();
  std::any_of(places.begin(), places.end(), make_in);
  make_in(fs::path(output).parent_path());
  if (receipts.empty()) return Failure{failure};
  return receipts;
}

// Rank 0 tells of the profile, and any rank of its parts.
void take_word(const Receipts& receipts, RecordedRunEnd& end) {
  for (const TemporaryFile& receipt : receipts) {
    const std::optional<Word> word = word_in(receipt.content());
    if (!word || (end.profile && word->what != Left::profile)) continue;
    end.profile = word->path;
    end.is_of_parts = word->what != Left::profile;
    end.has_other_hosts = word->what == Left::parts_of_several_hosts;
  }
}

// A launcher that is killed, or asked twice to end, leaves ranks behind that may still be saving what they recorded.
void wait_for_ranks(const Receipts& receipts) {
  constexpr int most_steps = 250;
  constexpr int step = 20;  // ms
  const auto may_get_words = [](const TemporaryFile& receipt) { return is_held(receipt.descriptor()); };
  for (int i = 0; i < most_steps && std::any_of(receipts.begin(), receipts.end(), may_get_words); ++i) {
    poll(nullptr, 0, step);
  }
}

Outcome<LaunchCommand> prepared(const RecordedRunRequest& request, const Environment& of_this_run) {
  const Outcome<std::string> preload =
      is_started_by_exec(request.command)
          ? std::string()
          : fitting_preload_list(request.launcher.family, !request.options.inject.empty(), request.launcher.library);
  if (!preload) return preload.failure();
  Environment environment = rank_environment(request.options);
  environment.emplace_back("HALCYON_COMMAND", shortened(quoted(request.command), longest_command));
  environment.emplace_back("HALCYON_ALL_RANKS", "1");
  if (!request.options.inject.empty()) environment.emplace_back("INTM_SEED", request.injection_seed);
  environment.insert(environment.end(), of_this_run.begin(), of_this_run.end());
  LaunchCommand command = with_recorder(request.launcher, request.command, *preload, environment);
  command.job.words.insert(command.job.words.begin(), request.prefix.begin(), request.prefix.end());
  return command;
}

}  // namespace

Outcome<std::string> command_line(const RecordedRunRequest& request) {
  const Outcome<LaunchCommand> command = prepared(request, {});
  if (!command) return command.failure();
  return quoted(spelt_out(command->job));
}

std::string no_profile_words(const Words& command, const std::string& output) {
  if (const Outcome<Launcher> launcher = launcher_of(command)) {
    const std::string obstacle = obstacle_in_ranks(command, *launcher, output);
    if (!obstacle.empty()) return "no profile was written: " + obstacle;
    const Finding program = program_finding(command, *launcher);
    if (program.state == Finding::State::problem) return "no profile was written: " + program.text;
  }
  return "no profile was written: unless the recorder has said why, the program did not reach MPI_Finalize on all "
         "ranks, is no MPI program, or ran on hosts that do not see the profile's directory";
}

std::string check_words(const Words& command) { return "to check the command: halcyon doctor -- " + in_short(command); }

Outcome<RecordedRunEnd> run_recorded(const RecordedRunRequest& request, SignalRelay& relay) {
  const std::string run_id = new_run_id();
  const Outcome<Receipts> receipts = make_receipts(request.options.output, run_id);
  if (!receipts) return receipts.failure();
  Outcome<LaunchCommand> command =
      prepared(request, {{"HALCYON_RECEIPT", receipts->front().path()}, {"HALCYON_RUN", run_id}});
  if (!command) return command.failure();
  if (!request.log.empty()) {
    command->job.output = open(request.log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (command->job.output < 0) return Failure{"cannot write " + request.log + ": " + std::strerror(errno)};
  }
  command->job.inherited = request.lock;
  Outcome<Job> job = Job::start(command->job);
  if (!request.log.empty()) close(command->job.output);
  if (!job) return job.failure();
  const Outcome<JobEnd> end = relay.wait(*job, command->kills_on_term);
  if (!end) return end.failure();
  RecordedRunEnd run{.status = end->status, .profile = std::nullopt};
  take_word(*receipts, run);
  if (run.status != 0 && (!run.profile || run.is_of_parts)) {
    wait_for_ranks(*receipts);
    take_word(*receipts, run);
  }
  return run;
}

}  // namespace halcyon::cli
