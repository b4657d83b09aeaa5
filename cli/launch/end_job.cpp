#include "cli/launch/end_job.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <string_view>

#include "libprofile/system/process_facts.hpp"

namespace halcyon::cli {
namespace {

constexpr double launcher_seconds = 10.0;
constexpr double term_seconds = 5.0;
constexpr double kill_seconds = 5.0;

bool is_hydra(std::string_view name) { return name.starts_with("mpiexec.hydra") || name.starts_with("hydra_"); }

bool is_launcher(std::string_view name) {
  constexpr std::array<std::string_view, 7> beginnings{"mpirun", "mpiexec", "orte", "prte", "prun", "hydra_", "srun"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

// A process that has ended, but that nobody has waited for, is a zombie.
bool runs(pid_t process) {
  const std::optional<ProcessFacts> facts = facts_of(process);
  return facts && !facts->has_ended();
}

bool have_ended(const std::vector<pid_t>& processes, double within_seconds) {
  constexpr int step = 50;  // ms
  for (double waited = 0.0;; waited += 1e-3 * step) {
    if (std::none_of(processes.begin(), processes.end(), runs)) return true;
    if (waited >= within_seconds) return false;
    poll(nullptr, 0, step);
  }
}

void send_signal(const std::vector<pid_t>& processes, int signal) {
  for (const pid_t process : processes) {
    if (runs(process)) kill(process, signal);
  }
}

}  // namespace

RunningLauncher launcher_above(pid_t process) {
  RunningLauncher launcher;
  for (std::optional<ProcessFacts> facts = facts_of(process); facts && facts->parent > 1;) {
    process = facts->parent;
    facts = facts_of(process);
    if (!facts || kill(process, 0) != 0) break;
    const std::string_view name = facts->name.data();
    if (is_launcher(name)) launcher = {process, is_hydra(name) ? SIGINT : SIGTERM};
  }
  return launcher;
}

bool end_job(const std::vector<pid_t>& ranks) {
  if (ranks.empty()) return true;
  if (const RunningLauncher launcher = launcher_above(ranks.front()); launcher.process != 0) {
    kill(launcher.process, launcher.signal);
    // A rank that is stopped would not see the signal.
    send_signal(ranks, SIGCONT);
    if (have_ended(ranks, launcher_seconds)) return true;
  }
  send_signal(ranks, SIGTERM);
  send_signal(ranks, SIGCONT);
  if (have_ended(ranks, term_seconds)) return true;
  send_signal(ranks, SIGKILL);
  return have_ended(ranks, kill_seconds);
}

}  // namespace halcyon::cli
