#include "cli/launch/recorded_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "cli/launch/temporary_file.hpp"
#include "libprofile/shared/receipt.hpp"

namespace halcyon::cli {
namespace {

namespace fs = std::filesystem;

std::string new_run_id() { return std::to_string(std::random_device{}()) + "." + std::to_string(getpid()); }

constexpr const char* beginning_of_receipt = ".halcyon-run-";
constexpr const char* end_of_receipt = ".receipt";

// Rank 0 writes the profile's name into it, since that name holds what only the ranks know. It is beside the profile,
// where both sides can write.
Outcome<TemporaryFile> receipt_beside(const std::string& output, const std::string& run_id) {
  const fs::path directory = fs::path(output).parent_path();
  remove_abandoned(directory, beginning_of_receipt, end_of_receipt);
  return TemporaryFile::make(directory / (beginning_of_receipt + run_id + end_of_receipt));
}

void take_receipt(const std::string& receipt, RecordedRunEnd& end) {
  std::ifstream in(receipt);
  std::string path;
  std::string second;
  if (!std::getline(in, path)) return;
  end.profile = path;
  end.has_other_hosts = std::getline(in, second) && second == of_several_hosts;
}

Outcome<LaunchCommand> prepared(const RecordedRunRequest& request, const Environment& of_this_run) {
  const Outcome<std::string> preload = preload_list(request.launcher.family, !request.options.inject.empty());
  if (!preload) return preload.failure();
  Environment environment = rank_environment(request.options);
  environment.emplace_back("HALCYON_COMMAND", quoted(request.command));
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

Outcome<RecordedRunEnd> run_recorded(const RecordedRunRequest& request, SignalRelay& relay) {
  const std::string run_id = new_run_id();
  const Outcome<TemporaryFile> receipt = receipt_beside(request.options.output, run_id);
  if (!receipt) return receipt.failure();
  Outcome<LaunchCommand> command = prepared(request, {{"HALCYON_RECEIPT", receipt->path()}, {"HALCYON_RUN", run_id}});
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
  take_receipt(receipt->path(), run);
  return run;
}

}  // namespace halcyon::cli
